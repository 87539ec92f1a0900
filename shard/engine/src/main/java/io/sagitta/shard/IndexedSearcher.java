// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
import io.sagitta.shard.Searched.Strategy;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.CodeQuery;
import io.sagitta.shard.hnsw.GraphSearcher;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.index.FieldIndex;
import io.sagitta.shard.index.Indexer;
import io.sagitta.shard.index.LiveRecall;
import io.sagitta.shard.index.RecallSampler;
import io.sagitta.shard.index.SegmentRows;
import io.sagitta.shard.segment.Segment;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;

/**
 * Searches a segment by its graph where that is cheaper than scanning the candidates and gives the
 * recall that was asked for, and by a scan where not. Rows that the graph does not hold yet are
 * always scanned.
 *
 * <p>A graph search may not find enough: the filter's rows may lie apart from where it looks. It is
 * given up once it has cost as much as a scan would, and whenever it brought fewer hits than there
 * are, the candidates are scanned after all. So min(k, matches) hits come back whatever the filter,
 * at no more than about twice the cost of the scan.
 */
final class IndexedSearcher {
  private final Indexer indexer;
  private final ShardRead.Search search;
  private final ExactSearcher exact;
  private CodeQuery[] codes;
  private IndexParameters codesFor;

  /**
   * A searcher for one request, for one thread.
   *
   * @param indexer knows the graphs
   */
  IndexedSearcher(Indexer indexer, ShardRead.Search search) {
    this.indexer = indexer;
    this.search = search;
    this.exact = new ExactSearcher(search.queries().count());
  }

  /**
   * Offers rows to the heaps, one heap for each query.
   *
   * @param segment the segment
   * @param firstRef reference of its row 0; a row's reference is this plus its ordinal
   * @param field the field searched; the segment has it
   * @param candidates one bit a row: the rows that may be offered, some of them without a vector
   */
  Searched search(
      Segment segment,
      long firstRef,
      VectorField field,
      long[] candidates,
      PreparedQuery[] queries,
      TopK[] heaps,
      StopSignal stop) {
    Optional<Searched> byGraph =
        withIndex(
            segment,
            field,
            index -> {
              Plan plan = plan(index, segment, field, candidates, queries.length, search.k());
              return plan == null
                  ? Optional.empty()
                  : Optional.of(
                      new Walk(plan, segment, firstRef, field, candidates, stop)
                          .orScan(queries, heaps));
            });
    return byGraph.isPresent()
        ? byGraph.get()
        : exact.search(segment, firstRef, field, candidates, queries, heaps, stop);
  }

  /** Whether a graph search for k hits of one query pays. */
  boolean prefersGraph(Segment segment, VectorField field, long[] candidates, int k) {
    return withIndex(
            segment,
            field,
            index -> Optional.ofNullable(plan(index, segment, field, candidates, 1, k)))
        .isPresent();
  }

  /**
   * What a graph search for one query came to.
   *
   * @param isEnough whether it brought min(k, matches) hits; where not, a scan is needed
   */
  record Walked(boolean isEnough, Searched searched) {}

  /**
   * Offers the k best candidates by graph, rows that it does not hold yet included; empty where a
   * scan is to be preferred.
   *
   * @param q the query's place among the request's
   * @param isWhole whether the candidates are all that the request may find
   */
  Optional<Walked> walk(
      Segment segment,
      long firstRef,
      VectorField field,
      long[] candidates,
      int q,
      PreparedQuery query,
      int k,
      boolean isWhole,
      TopK heap,
      StopSignal stop) {
    return withIndex(
        segment,
        field,
        index -> {
          Plan plan = plan(index, segment, field, candidates, 1, k);
          if (plan == null) {
            return Optional.empty();
          }
          Walk walk = new Walk(plan, segment, firstRef, field, candidates, stop);
          PreparedQuery[] one = {query};
          TopK[] heaps = {heap};
          return Optional.of(
              walk.offerAll(one, q, heaps)
                  ? new Walked(true, walk.withTail(one, heaps, isWhole))
                  : new Walked(false, Searched.scan(walk.visited)));
        });
  }

  /** Calls with the graph of a segment, held, where there is one and the request may use it. */
  private <T> Optional<T> withIndex(
      Segment segment, VectorField field, Function<FieldIndex, Optional<T>> use) {
    if (search.effort() instanceof ShardRead.Effort.Exact) {
      return Optional.empty();
    }
    Optional<FieldIndex> index = indexer.find(segment.number(), field.fieldId());
    if (index.isEmpty() || !index.get().index().tryRetain()) {
      return Optional.empty();
    }
    try {
      return use.apply(index.get());
    } finally {
      index.get().index().release();
    }
  }

  /**
   * A graph search that pays.
   *
   * @param k hits wanted
   * @param size rows of the segment in the graph
   * @param matches candidates among them
   * @param visitedMax rows it may score before a scan would have been cheaper
   */
  private record Plan(
      FieldIndex index, Calibration.Choice choice, int k, int size, int matches, long visitedMax) {}

  /** Null where a scan is cheaper, or the only way to the recall that was asked for. */
  private Plan plan(
      FieldIndex index, Segment segment, VectorField field, long[] candidates, int queries, int k) {
    int size = Math.min(index.index().size(), segment.rows());
    int matches = Bits.count(candidates, size);
    Calibration calibration = index.calibration().orElseThrow();
    Optional<Calibration.Choice> choice =
        switch (search.effort()) {
          case ShardRead.Effort.Recall recall ->
              calibration.choose(k, live(index).toPlan(recall.target()), size);
          case ShardRead.Effort.Ef ef -> calibration.withEf(k, ef.value());
          case ShardRead.Effort.Exact ignored -> Optional.empty();
        };
    if (choice.isEmpty() && live(index).factor() > 1 && matches > 0) {
      // The correction rules out the graph; only its best tells when that is over.
      calibration.most(k).ifPresent(most -> sample(index, most, k, size, candidates));
    }
    if (choice.isEmpty() || matches == 0) {
      return null;
    }
    SearchCost cost = SearchCost.of(field, queries);
    double scan = cost.scan(matches);
    double graph = cost.graph(choice.get(), (double) matches / size, size);
    if (graph >= scan) {
      return null;
    }
    return new Plan(index, choice.get(), k, size, matches, cost.visits(scan));
  }

  /** One segment's graph searched by a plan. */
  private final class Walk {
    private final Plan plan;
    private final Segment segment;
    private final long firstRef;
    private final VectorField field;
    private final long[] candidates;
    private final StopSignal stop;
    private long visited;

    Walk(
        Plan plan,
        Segment segment,
        long firstRef,
        VectorField field,
        long[] candidates,
        StopSignal stop) {
      this.plan = plan;
      this.segment = segment;
      this.firstRef = firstRef;
      this.field = field;
      this.candidates = candidates;
      this.stop = stop;
    }

    /** Searches for all queries; scans where that is not enough for one of them. */
    Searched orScan(PreparedQuery[] queries, TopK[] heaps) {
      if (offerAll(queries, 0, heaps)) {
        return withTail(queries, heaps, true);
      }
      // Some rows were offered already, and a heap must not hold a row twice.
      Arrays.stream(heaps).forEach(heap -> heap.forget(firstRef, firstRef + segment.rows()));
      Searched scanned = exact.search(segment, firstRef, field, candidates, queries, heaps, stop);
      return Searched.scan(visited + scanned.visited());
    }

    /** False as soon as a query did not get its min(k, matches) hits. */
    boolean offerAll(PreparedQuery[] queries, int firstQuery, TopK[] heaps) {
      boolean allMatch = plan.matches == plan.size;
      boolean enough = true;
      SegmentRows rows = new SegmentRows(segment, field.fieldId());
      GraphSearcher searcher = indexer.borrowSearcher();
      try {
        for (int q = 0; q < queries.length && enough; q++) {
          int scored =
              searcher.search(
                  plan.index.index(),
                  rows,
                  queries[q],
                  codes(plan.index.index().parameters(), firstQuery + q),
                  plan.choice,
                  allMatch ? null : candidates,
                  plan.size,
                  plan.visitedMax,
                  stop::check,
                  heaps[q],
                  firstRef);
          visited += searcher.visited() + scored;
          enough = !searcher.gaveUp() && scored >= Math.min(plan.k, plan.matches);
        }
      } finally {
        indexer.giveBack(searcher);
      }
      return enough;
    }

    /**
     * After {@link #offerAll}: scans the rows that the graph does not hold yet.
     *
     * @param isWhole whether the search may stand for others of its kind
     */
    Searched withTail(PreparedQuery[] queries, TopK[] heaps, boolean isWhole) {
      if (plan.size < segment.rows()) {
        long[] tail = candidates.clone();
        Bits.clear(tail, 0, plan.size);
        visited += exact.search(segment, firstRef, field, tail, queries, heaps, stop).visited();
      }
      if (isWhole) {
        sample(plan.index, plan.choice, plan.k, plan.size, candidates);
      }
      return new Searched(
          filtered() ? Strategy.MASKED : Strategy.GRAPH,
          visited,
          live(plan.index).expected(plan.choice.recall()),
          Optional.of(plan.choice.effort()));
    }
  }

  private boolean filtered() {
    return search.filter().isPresent();
  }

  private LiveRecall live(FieldIndex index) {
    return index.live(filtered());
  }

  /** Has the first query repeated exactly, when it is time for that. */
  private void sample(
      FieldIndex index, Calibration.Choice choice, int k, int size, long[] candidates) {
    if (search.effort() instanceof ShardRead.Effort.Recall recall && indexer.sampler().isDue()) {
      float[] query = Arrays.copyOf(search.queries().values(), search.queries().dimension());
      indexer
          .sampler()
          .offer(
              new RecallSampler.Asked(
                  index, recall.target(), choice, size, candidates.clone(), filtered(), k, query));
    }
  }

  private CodeQuery codes(IndexParameters parameters, int q) {
    if (!parameters.equals(codesFor)) {
      codesFor = parameters;
      codes = new CodeQuery[search.queries().count()];
    }
    if (codes[q] == null) {
      codes[q] = new CodeQuery(parameters);
      codes[q].set(search.queries().values(), q * search.queries().dimension());
    }
    return codes[q];
  }
}
