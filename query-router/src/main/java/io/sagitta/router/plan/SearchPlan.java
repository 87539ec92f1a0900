// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Query;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardRead.QueryVectors;
import io.sagitta.model.VectorField;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A search against a collection's schema: everything that can be refused without asking a shard has
 * been.
 *
 * @param collection the collection as planned against
 * @param asked the request
 * @param field the vector field searched
 * @param queries the query vectors; absent while those of a {@code like} have not been fetched
 * @param hitsPerShard hits each shard must give, offset included
 * @param bound score or distance that hits must keep
 * @param fields columns of the answer
 * @param freshness how fresh it must be
 * @param grouping what a group is, where hits are to be grouped
 */
public record SearchPlan(
    ShardMap.Collection collection,
    Command.Search asked,
    VectorField field,
    Optional<QueryVectors> queries,
    int hitsPerShard,
    OptionalDouble bound,
    List<String> fields,
    Freshness freshness,
    Optional<ShardRead.Grouping> grouping) {

  /**
   * Plans a search.
   *
   * @throws SagittaException INVALID_ARGUMENT naming what does not fit the collection
   */
  public static SearchPlan of(ShardMap.Collection collection, Command.Search search) {
    VectorField field = collection.schema().requireVectorField(search.field().orElse(null));
    Optional<QueryVectors> queries =
        switch (search.query()) {
          case Query.Vectors given -> Optional.of(QueryChecks.vectors(field, given.rows()));
          case Query.PackedVectors given ->
              Optional.of(QueryChecks.packed(field, given.littleEndian()));
          case Query.Like ignored -> Optional.empty();
        };
    Filters.check(collection.schema(), search.filter());
    return new SearchPlan(
        collection,
        search,
        field,
        queries,
        QueryChecks.hitsPerShard(search),
        QueryChecks.bound(field, search.minScore(), search.maxDistance()),
        AnswerFields.of(
            collection.schema(), search.fields(), search.groupBy().map(Command.GroupBy::field)),
        Freshness.of(search.consistency()),
        QueryChecks.grouping(
            collection.schema(), search, queries.map(QueryVectors::count).orElse(1)));
  }

  /** The point whose stored vector is searched with, where the request says so. */
  public Optional<PointId> like() {
    return asked.query() instanceof Query.Like like
        ? Optional.of(PointIds.of(collection.schema().idType(), like.id()))
        : Optional.empty();
  }

  /** The plan with the fetched vector of the point that {@link #like} names. */
  public SearchPlan with(float[] vector) {
    return new SearchPlan(
        collection,
        asked,
        field,
        Optional.of(new QueryVectors(1, vector.length, vector)),
        hitsPerShard,
        bound,
        fields,
        freshness,
        grouping);
  }

  /** What is asked of one shard. */
  public ShardRead.Search read(ShardMap.Shard shard) {
    return read(shard, grouping);
  }

  /**
   * What is asked of a shard of which certain groups are wanted besides its best.
   *
   * @param also for each query, hashes of those groups
   */
  public ShardRead.Search read(ShardMap.Shard shard, List<long[]> also) {
    return read(
        shard,
        grouping.map(grouped -> new ShardRead.Grouping(grouped.field(), grouped.size(), also)));
  }

  private ShardRead.Search read(ShardMap.Shard shard, Optional<ShardRead.Grouping> grouped) {
    return new ShardRead.Search(
        shard.id(),
        freshness.mode(shard.id()),
        field.name(),
        queries.orElseThrow(),
        hitsPerShard,
        asked.filter(),
        asked.effort(),
        bound,
        fields,
        asked.explain(),
        grouped);
  }
}
