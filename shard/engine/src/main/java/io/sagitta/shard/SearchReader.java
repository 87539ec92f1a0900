// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.Field;
import io.sagitta.model.Metric;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
import io.sagitta.shard.Searched.Strategy;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.TieBreak;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.index.Indexer;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Answers a search: every segment offers its candidates, and the winners' fields are fetched. */
final class SearchReader {
  private final SegmentSet set;
  private final Indexer indexer;
  private final StopSignal stop;

  SearchReader(SegmentSet set, Indexer indexer, StopSignal stop) {
    this.set = set;
    this.indexer = indexer;
    this.stop = stop;
  }

  ReadResult search(ShardRead.Search search, BufferAllocator allocator) {
    VectorField field = set.schema().requireVectorField(search.field());
    List<Field> fields = AnswerRows.fields(set.schema(), search.fields());
    PreparedQuery[] queries = prepare(field, search.queries());
    if (search.k() < 1) {
      throw SagittaException.invalid("k is " + search.k() + ", expected at least 1");
    }
    IndexedSearcher searcher = new IndexedSearcher(indexer, search);
    long[][] candidates = candidates(search, field);
    Answered answered =
        search.grouping().isPresent()
            ? grouped(search, field, queries, candidates, searcher)
            : plain(search, field, queries, candidates, searcher);
    VectorSchemaRoot rows = AnswerRows.ofHits(set, answered.hits, fields, allocator);
    return new ReadResult(rows, stats(search, candidates, answered.searched));
  }

  /**
   * Hits, and what was done to each segment to find them.
   *
   * @param searched empty where a segment has no candidates
   */
  private record Answered(AnswerRows.Hits hits, List<Optional<Searched>> searched) {}

  private Answered plain(
      ShardRead.Search search,
      VectorField field,
      PreparedQuery[] queries,
      long[][] candidates,
      IndexedSearcher searcher) {
    TopK[] heaps = heaps(search, field);
    List<Optional<Searched>> searched = new ArrayList<>();
    for (int i = 0; i < candidates.length; i++) {
      searched.add(
          candidates[i] == null
              ? Optional.empty()
              : Optional.of(
                  searcher.search(
                      set.segments().get(i),
                      SegmentSet.ref(i, 0),
                      field,
                      candidates[i],
                      queries,
                      heaps,
                      stop)));
    }
    return new Answered(drain(heaps), searched);
  }

  private Answered grouped(
      ShardRead.Search search,
      VectorField field,
      PreparedQuery[] queries,
      long[][] candidates,
      IndexedSearcher searcher) {
    GroupedSearcher.Found found =
        new GroupedSearcher(
                set, search, field, queries, candidates, searcher, this::compareIds, stop)
            .search();
    return new Answered(inOrder(found.groups()), found.searched());
  }

  /** For each segment the rows to search, a bit each; null where there are none. */
  private long[][] candidates(ShardRead.Search search, VectorField field) {
    VisibleRows visible = new VisibleRows(set, search.filter(), stop);
    long[][] candidates = new long[set.segments().size()][];
    for (int i = 0; i < candidates.length; i++) {
      Segment segment = set.segments().get(i);
      // A segment older than the field has no vector of it.
      if (segment.schema().field(field.fieldId()).isPresent()) {
        long[] bits = visible.of(segment);
        candidates[i] = Bits.any(bits, 0, segment.rows()) ? bits : null;
      }
    }
    return candidates;
  }

  private ReadStats stats(
      ShardRead.Search search, long[][] candidates, List<Optional<Searched>> searched) {
    Tally tally = new Tally();
    searched.forEach(s -> s.ifPresent(tally::add));
    if (!search.explain()) {
      return tally.stats("");
    }
    List<String> explained = new ArrayList<>();
    for (int i = 0; i < candidates.length; i++) {
      int count = candidates[i] == null ? 0 : Bits.count(candidates[i]);
      explained.add(explain(set.segments().get(i), count, searched.get(i)));
    }
    return tally.stats("[" + String.join(",", explained) + "]");
  }

  /** What all segments together did. */
  private static final class Tally {
    private final int[] segments = new int[Strategy.values().length];
    private long visited;
    private double recall = 1;

    void add(Searched searched) {
      segments[searched.strategy().ordinal()]++;
      visited += searched.visited();
      recall = Math.min(recall, searched.recall());
    }

    ReadStats stats(String explain) {
      int graph = segments[Strategy.GRAPH.ordinal()];
      int masked = segments[Strategy.MASKED.ordinal()];
      int scan = segments[Strategy.SCAN.ordinal()];
      boolean exact = graph + masked == 0;
      return new ReadStats(exact, graph, masked, 0, scan, visited, recall, false, explain);
    }
  }

  private static PreparedQuery[] prepare(VectorField field, ShardRead.QueryVectors vectors) {
    if (vectors.dimension() != field.dimension()) {
      throw SagittaException.invalid(
          "query vector has "
              + vectors.dimension()
              + " components, field "
              + Names.quote(field.name())
              + " expects "
              + field.dimension());
    }
    PreparedQuery[] queries = new PreparedQuery[vectors.count()];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = PreparedQuery.of(field, vectors.values(), i * vectors.dimension());
    }
    return queries;
  }

  private TopK[] heaps(ShardRead.Search search, VectorField field) {
    TieBreak byId = this::compareIds;
    int k = (int) Math.max(1, Math.min(search.k(), set.rows()));
    TopK[] heaps = new TopK[search.queries().count()];
    Arrays.setAll(heaps, i -> heap(k, field.metric(), byId, search.bound()));
    return heaps;
  }

  /** For the k best rows that keep a bound, if there is one. */
  static TopK heap(int k, Metric metric, TieBreak ties, OptionalDouble bound) {
    TopK heap = new TopK(k, metric, ties);
    if (bound.isPresent()) {
      heap.bound(bound(bound, metric.higherIsBetter()));
    }
    return heap;
  }

  /** The worst float that lies within a bound: a score must not pass by rounding the bound. */
  static float bound(OptionalDouble bound, boolean higherIsBetter) {
    double exact = bound.getAsDouble();
    if (Double.isNaN(exact)) {
      throw SagittaException.invalid("the score bound is not a number");
    }
    float near = (float) exact;
    if (higherIsBetter) {
      return near < exact ? Math.nextUp(near) : near;
    }
    return near > exact ? Math.nextDown(near) : near;
  }

  private int compareIds(long left, long right) {
    int leftRow = SegmentSet.row(left);
    int rightRow = SegmentSet.row(right);
    RowRun leftRun = set.segments().get(SegmentSet.segment(left)).runOf(leftRow);
    RowRun rightRun = set.segments().get(SegmentSet.segment(right)).runOf(rightRow);
    return leftRun
        .ids()
        .compare(leftRow - leftRun.start(), rightRun.ids(), rightRow - rightRun.start());
  }

  private static AnswerRows.Hits drain(TopK[] heaps) {
    int total = 0;
    for (TopK heap : heaps) {
      total = Math.addExact(total, heap.size());
    }
    AnswerRows.Hits hits =
        new AnswerRows.Hits(total, new int[total], new long[total], new float[total]);
    int at = 0;
    for (int query = 0; query < heaps.length; query++) {
      float[] scores = new float[heaps[query].size()];
      long[] refs = new long[scores.length];
      int count = heaps[query].drain(scores, refs);
      for (int i = 0; i < count; i++, at++) {
        hits.queries()[at] = query;
        hits.refs()[at] = refs[i];
        hits.scores()[at] = scores[i];
      }
    }
    return hits;
  }

  private static AnswerRows.Hits inOrder(List<List<GroupMembers.Rows>> groups) {
    int total = groups.stream().flatMap(List::stream).mapToInt(rows -> rows.refs().length).sum();
    AnswerRows.Hits hits =
        new AnswerRows.Hits(total, new int[total], new long[total], new float[total]);
    int at = 0;
    for (int query = 0; query < groups.size(); query++) {
      for (GroupMembers.Rows rows : groups.get(query)) {
        int count = rows.refs().length;
        Arrays.fill(hits.queries(), at, at + count, query);
        System.arraycopy(rows.refs(), 0, hits.refs(), at, count);
        System.arraycopy(rows.scores(), 0, hits.scores(), at, count);
        at += count;
      }
    }
    return hits;
  }

  /** A segment's part of what {@code explain} asks for, as JSON. */
  private static String explain(Segment segment, int candidates, Optional<Searched> searched) {
    StringBuilder out = new StringBuilder("{\"segment\":").append(segment.number());
    out.append(",\"rows\":").append(segment.rows());
    out.append(",\"candidates\":").append(candidates);
    out.append(",\"strategy\":\"")
        .append(searched.map(s -> s.strategy().word()).orElse("none"))
        .append('"');
    out.append(",\"visited\":").append(searched.map(Searched::visited).orElse(0L));
    searched
        .flatMap(Searched::effort)
        .ifPresent(
            effort ->
                out.append(",\"ef\":")
                    .append(effort.ef())
                    .append(",\"scored_exactly\":")
                    .append(effort.rerank())
                    .append(",\"bits\":")
                    .append(bits(effort.traversal()))
                    .append(",\"recall_planned\":")
                    .append(Math.rint(1e4 * searched.get().recall()) / 1e4));
    return out.append('}').toString();
  }

  /** Bits of a component that the walk reads. */
  private static int bits(Traversal traversal) {
    return switch (traversal) {
      case FOUR -> 4;
      case EIGHT -> 8;
      case BITS -> 1;
    };
  }
}
