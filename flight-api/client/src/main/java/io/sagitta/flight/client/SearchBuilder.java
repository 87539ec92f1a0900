// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.model.FilterText;
import io.sagitta.model.PointId;
import io.sagitta.model.ShardRead.Effort;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** Puts a search together; what is not said has the protocol's default. */
public final class SearchBuilder {
  private final SagittaClient client;
  private final String collection;
  private Optional<String> field = Optional.empty();
  private Command.Query query;
  private int k = 10;
  private int offset;
  private Optional<FilterText> filter = Optional.empty();
  private Effort effort = new Effort.Recall(0.95);
  private OptionalDouble minScore = OptionalDouble.empty();
  private OptionalDouble maxDistance = OptionalDouble.empty();
  private Optional<List<String>> fields = Optional.empty();
  private Consistency consistency = Consistency.STRONG;
  private boolean partial;
  private boolean explain;
  private Optional<Command.GroupBy> groupBy = Optional.empty();

  SearchBuilder(SagittaClient client, String collection) {
    this.client = client;
    this.collection = collection;
  }

  /** The vector field; needed where the collection has several. */
  public SearchBuilder field(String name) {
    field = Optional.of(name);
    return this;
  }

  /** Query vectors of equal length; one row is the usual search. */
  public SearchBuilder vectors(float[]... rows) {
    ByteBuffer packed =
        ByteBuffer.allocate(Arrays.stream(rows).mapToInt(row -> row.length * Float.BYTES).sum())
            .order(ByteOrder.LITTLE_ENDIAN);
    for (float[] row : rows) {
      for (float component : row) {
        packed.putFloat(component);
      }
    }
    query = new Command.Query.PackedVectors(packed.array());
    return this;
  }

  /** Searches for what is like a stored point. */
  public SearchBuilder like(PointId id) {
    query = new Command.Query.Like(SagittaClient.idText(id));
    return this;
  }

  public SearchBuilder k(int hits) {
    k = hits;
    return this;
  }

  public SearchBuilder offset(int hitsSkipped) {
    offset = hitsSkipped;
    return this;
  }

  /** A filter; {@code $1} is the first parameter. */
  public SearchBuilder filter(String text, Object... params) {
    filter = Optional.of(new FilterText(text, Arrays.asList(params)));
    return this;
  }

  /** Mean recall wanted, in (0, 1]. */
  public SearchBuilder recall(double target) {
    effort = new Effort.Recall(target);
    return this;
  }

  public SearchBuilder ef(int candidates) {
    effort = new Effort.Ef(candidates);
    return this;
  }

  /** Scores every point that matches. */
  public SearchBuilder exact() {
    effort = new Effort.Exact();
    return this;
  }

  public SearchBuilder minScore(double score) {
    minScore = OptionalDouble.of(score);
    return this;
  }

  public SearchBuilder maxDistance(double distance) {
    maxDistance = OptionalDouble.of(distance);
    return this;
  }

  /** The best hit of each value of a field; k and offset then count groups. */
  public SearchBuilder groupBy(String name) {
    return groupBy(name, 1);
  }

  /**
   * The best hits of each value of a field, in groups: by the group's best hit, within a group by
   * score. k and offset count groups; points without a value belong to none.
   */
  public SearchBuilder groupBy(String name, int size) {
    groupBy = Optional.of(new Command.GroupBy(name, size));
    return this;
  }

  /** Fields to return; without this all but vectors. */
  public SearchBuilder fields(String... names) {
    fields = Optional.of(List.of(names));
    return this;
  }

  public SearchBuilder consistency(Consistency wanted) {
    consistency = wanted;
    return this;
  }

  /** Accepts an answer without the shards that cannot be reached; the certificate names them. */
  public SearchBuilder partial() {
    partial = true;
    return this;
  }

  public SearchBuilder explain() {
    explain = true;
    return this;
  }

  /** The command as it will be sent. */
  public Command.Search command() {
    if (query == null) {
      throw new IllegalStateException("a search needs vectors or like");
    }
    return new Command.Search(
        collection,
        field,
        query,
        k,
        offset,
        filter,
        effort,
        minScore,
        maxDistance,
        fields,
        consistency,
        partial,
        OptionalLong.empty(),
        explain,
        groupBy);
  }

  /** Asks. Close the answer. */
  public Answer run() {
    return client.search(command());
  }
}
