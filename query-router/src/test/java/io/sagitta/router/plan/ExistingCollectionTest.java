// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ExistingCollectionTest {
  private static final Field PLOT =
      new VectorField(1, "plot", VectorType.FLOAT32, 3, Metric.COSINE, false);
  private static final Field TITLE = payload(2, "title", "utf8");

  private static Field payload(int id, String name, String type) {
    return new PayloadField(id, name, PayloadType.parse(type));
  }

  private static Field vector(
      VectorType type, int dimension, Metric metric, boolean nullable, VectorStorage storage) {
    return new VectorField(1, "plot", type, dimension, metric, nullable, storage);
  }

  private static ShardMap.Collection there(int shards, int replicas) {
    List<ShardMap.Shard> parts =
        IntStream.range(0, shards)
            .mapToObj(
                i ->
                    new ShardMap.Shard(
                        new ShardId(new UUID(1, i)), i, SlotRange.part(i, shards), 1, List.of()))
            .toList();
    return new ShardMap.Collection(
        new CollectionId(new UUID(2, 0)),
        "films",
        new CollectionSchema(1, IdType.INT64, List.of(PLOT, TITLE)),
        parts,
        replicas,
        0);
  }

  private static CreateSpec asked(IdType id, Field... fields) {
    return new CreateSpec(
        "films",
        new CollectionSchema(1, id, List.of(fields)),
        OptionalInt.empty(),
        OptionalInt.empty());
  }

  private static CreateSpec asked(OptionalInt shards, OptionalInt replicas) {
    return new CreateSpec(
        "films", new CollectionSchema(1, IdType.INT64, List.of(PLOT, TITLE)), shards, replicas);
  }

  private static void passes(ShardMap.Collection there, CreateSpec asked) {
    assertThat(ExistingCollection.requireAsAsked(there, asked)).isSameAs(there);
  }

  private static void differs(ShardMap.Collection there, CreateSpec asked, String difference) {
    assertThatThrownBy(() -> ExistingCollection.requireAsAsked(there, asked))
        .hasMessage("collection 'films' exists and is not what 'create' asks for: %s", difference)
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.ALREADY_EXISTS);
  }

  @Test
  void theSameAndLessAndAnotherOrderAreNoDifference() {
    passes(there(2, 3), asked(IdType.INT64, PLOT, TITLE));
    passes(there(2, 3), asked(IdType.INT64, PLOT));
    // Fields are met by name; their numbers are the collection's own.
    passes(
        there(2, 0),
        asked(
            IdType.INT64,
            payload(1, "title", "utf8"),
            new VectorField(2, "plot", VectorType.FLOAT32, 3, Metric.COSINE, false)));
    passes(there(2, 3), asked(OptionalInt.of(2), OptionalInt.of(3)));
    passes(there(2, 3), asked(OptionalInt.empty(), OptionalInt.of(0)));
  }

  @Test
  void everyDifferenceIsNamedWithWhatIsAndWhatWasAskedFor() {
    ShardMap.Collection there = there(1, 0);
    differs(there, asked(IdType.UTF8, PLOT), "id is int64, asked for utf8");
    differs(
        there,
        asked(
            IdType.INT64,
            vector(VectorType.FLOAT16, 3, Metric.COSINE, false, VectorStorage.MAPPED)),
        "field 'plot': type is vector of float32, asked for vector of float16");
    differs(
        there,
        asked(
            IdType.INT64,
            vector(VectorType.FLOAT32, 4, Metric.COSINE, false, VectorStorage.MAPPED)),
        "field 'plot': dim is 3, asked for 4");
    differs(
        there,
        asked(IdType.INT64, vector(VectorType.FLOAT32, 3, Metric.L2, false, VectorStorage.MAPPED)),
        "field 'plot': metric is cosine, asked for l2");
    differs(
        there,
        asked(
            IdType.INT64, vector(VectorType.FLOAT32, 3, Metric.COSINE, true, VectorStorage.MAPPED)),
        "field 'plot': nullable is false, asked for true");
    differs(
        there,
        asked(
            IdType.INT64,
            vector(VectorType.FLOAT32, 3, Metric.COSINE, false, VectorStorage.MEMORY)),
        "field 'plot': storage is mapped, asked for memory");
    differs(
        there,
        asked(IdType.INT64, PLOT, payload(2, "title", "list<utf8>")),
        "field 'title': type is utf8, asked for list<utf8>");
    differs(
        there,
        asked(IdType.INT64, payload(1, "plot", "float32")),
        "field 'plot': type is vector of float32, asked for float32");
    differs(
        there,
        asked(IdType.INT64, PLOT, payload(2, "year", "int32")),
        "field 'year' is missing, asked for int32");
    differs(there, asked(OptionalInt.of(2), OptionalInt.empty()), "shards is 1, asked for 2");
    differs(there, asked(OptionalInt.empty(), OptionalInt.of(3)), "replicas is auto, asked for 3");
    differs(
        there(1, 3), asked(OptionalInt.empty(), OptionalInt.of(1)), "replicas is 3, asked for 1");
  }
}
