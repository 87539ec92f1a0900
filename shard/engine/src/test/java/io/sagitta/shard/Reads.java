// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.FilterText;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ShardRead;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.apache.arrow.memory.BufferAllocator;

/** Reads of one view as plain values, for tests. */
record Reads(ShardView view, IdType idType, BufferAllocator allocator) {

  private static List<List<Object>> plain(ReadResult result) {
    try (result) {
      return PlainRows.of(result.rows());
    }
  }

  List<List<Object>> get(List<PointId> ids, String... fields) {
    return plain(
        view.get(
            new ShardRead.Get(TestShard.ID, ReadMode.ANY, ids, List.of(fields)),
            allocator,
            StopSignal.NEVER));
  }

  long count(Optional<FilterText> filter) {
    List<List<Object>> rows =
        plain(
            view.count(
                new ShardRead.Count(TestShard.ID, ReadMode.ANY, filter),
                allocator,
                StopSignal.NEVER));
    return PlainRows.decode(rows.getFirst().getFirst()).getLong();
  }

  /** The ids of all points, page by page. */
  List<PointId> scanIds(int limit, Optional<FilterText> filter) {
    List<PointId> ids = new ArrayList<>();
    Optional<PointId> after = Optional.empty();
    boolean more = true;
    while (more) {
      try (ReadResult page =
          view.scan(
              new ShardRead.Scan(
                  TestShard.ID, ReadMode.ANY, filter, after, OptionalInt.of(limit), List.of()),
              allocator,
              StopSignal.NEVER)) {
        more = page.stats().more();
        for (List<Object> row : PlainRows.of(page.rows())) {
          ids.add(PlainRows.idOf(idType, row.getFirst()));
        }
      }
      after = ids.isEmpty() ? Optional.empty() : Optional.of(ids.getLast());
    }
    return ids;
  }

  /** Hits of one query vector, best first. */
  List<TestShard.Hit> search(String field, int k, Optional<FilterText> filter, float... query) {
    return search(field, k, filter, OptionalDouble.empty(), query);
  }

  List<TestShard.Hit> search(
      String field, int k, Optional<FilterText> filter, OptionalDouble bound, float... query) {
    return searchAll(field, k, filter, bound, 1, query).getFirst();
  }

  /** Hits of one query vector as the engine sees fit to find them. */
  List<TestShard.Hit> search(
      String field, int k, Optional<FilterText> filter, ShardRead.Effort effort, float... query) {
    return searchAll(field, k, filter, OptionalDouble.empty(), effort, 1, query).getFirst();
  }

  /** Hits of several query vectors, in the order of the vectors. */
  List<List<TestShard.Hit>> searchAll(
      String field,
      int k,
      Optional<FilterText> filter,
      OptionalDouble bound,
      int queries,
      float... values) {
    return searchAll(field, k, filter, bound, new ShardRead.Effort.Exact(), queries, values);
  }

  /** As above, with an effort. */
  List<List<TestShard.Hit>> searchAll(
      String field,
      int k,
      Optional<FilterText> filter,
      OptionalDouble bound,
      ShardRead.Effort effort,
      int queries,
      float... values) {
    ShardRead.Search search =
        new ShardRead.Search(
            TestShard.ID,
            ReadMode.ANY,
            field,
            new ShardRead.QueryVectors(queries, values.length / queries, values),
            k,
            filter,
            effort,
            bound,
            List.of(),
            false,
            Optional.empty());
    List<List<TestShard.Hit>> hits = new ArrayList<>();
    for (int i = 0; i < queries; i++) {
      hits.add(new ArrayList<>());
    }
    for (List<Object> row : plain(view.search(search, allocator, StopSignal.NEVER))) {
      hits.get(PlainRows.decode(row.get(0)).getInt())
          .add(
              new TestShard.Hit(
                  PlainRows.idOf(idType, row.get(1)), PlainRows.decode(row.get(2)).getFloat()));
    }
    return hits;
  }
}
