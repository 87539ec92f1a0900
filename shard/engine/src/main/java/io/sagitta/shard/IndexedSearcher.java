// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
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
final class IndexedSearcher implements SegmentSearcher {
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

  @Override
  public Searched search(
      Segment segment,
      long firstRef,
      VectorField field,
      long[] candidates,
      PreparedQuery[] queries,
      TopK[] heaps,
      StopSignal stop) {
    Optional<FieldIndex> index =
        search.effort() instanceof ShardRead.Effort.Exact
            ? Optional.empty()
            : indexer.find(segment.number(), field.fieldId());
    if (index.isPresent() && index.get().index().tryRetain()) {
      try {
        Plan plan = plan(index.get(), segment, field, candidates, queries.length);
        if (plan != null) {
          return byGraph(plan, segment, firstRef, field, candidates, queries, heaps, stop);
        }
      } finally {
        index.get().index().release();
      }
    }
    return exact.search(segment, firstRef, field, candidates, queries, heaps, stop);
  }

  /**
   * A graph search that pays.
   *
   * @param size rows of the segment in the graph
   * @param matches candidates among them
   * @param visitedMax rows it may score before a scan would have been cheaper
   */
  private record Plan(
      FieldIndex index, Calibration.Choice choice, int size, int matches, long visitedMax) {}

  /** Null where a scan is cheaper, or the only way to the recall that was asked for. */
  private Plan plan(
      FieldIndex index, Segment segment, VectorField field, long[] candidates, int queries) {
    int size = Math.min(index.index().size(), segment.rows());
    int matches = Bits.count(candidates, size);
    Calibration calibration = index.calibration().orElseThrow();
    Optional<Calibration.Choice> choice =
        switch (search.effort()) {
          case ShardRead.Effort.Recall recall ->
              calibration.choose(search.k(), live(index).toPlan(recall.target()), size);
          case ShardRead.Effort.Ef ef -> calibration.withEf(search.k(), ef.value());
          case ShardRead.Effort.Exact ignored -> Optional.empty();
        };
    if (choice.isEmpty() && live(index).factor() > 1 && matches > 0) {
      // The correction rules out the graph; only its best tells when that is over.
      calibration.most(search.k()).ifPresent(most -> sample(index, most, size, candidates));
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
    return new Plan(index, choice.get(), size, matches, cost.visits(scan));
  }

  private Searched byGraph(
      Plan plan,
      Segment segment,
      long firstRef,
      VectorField field,
      long[] candidates,
      PreparedQuery[] queries,
      TopK[] heaps,
      StopSignal stop) {
    boolean allMatch = plan.matches == plan.size;
    long visited = 0;
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
                codes(plan.index.index().parameters(), q),
                plan.choice.effort(),
                allMatch ? null : candidates,
                plan.size,
                plan.visitedMax,
                stop::check,
                heaps[q],
                firstRef);
        visited += searcher.visited() + scored;
        enough = !searcher.gaveUp() && scored >= Math.min(search.k(), plan.matches);
      }
    } finally {
      indexer.giveBack(searcher);
    }
    if (!enough) {
      // Some rows were offered already, and a heap must not hold a row twice.
      Arrays.stream(heaps).forEach(heap -> heap.forget(firstRef, firstRef + segment.rows()));
      Searched scanned = exact.search(segment, firstRef, field, candidates, queries, heaps, stop);
      return Searched.scan(visited + scanned.visited());
    }
    if (plan.size < segment.rows()) {
      long[] tail = candidates.clone();
      Bits.clear(tail, 0, plan.size);
      visited += exact.search(segment, firstRef, field, tail, queries, heaps, stop).visited();
    }
    sample(plan.index, plan.choice, plan.size, candidates);
    return new Searched(
        filtered() ? Strategy.MASKED : Strategy.GRAPH,
        visited,
        live(plan.index).expected(plan.choice.recall()),
        Optional.of(plan.choice.effort()));
  }

  private boolean filtered() {
    return search.filter().isPresent();
  }

  private LiveRecall live(FieldIndex index) {
    return index.live(filtered());
  }

  /** Has the first query repeated exactly, when it is time for that. */
  private void sample(FieldIndex index, Calibration.Choice choice, int size, long[] candidates) {
    if (search.effort() instanceof ShardRead.Effort.Recall recall && indexer.sampler().isDue()) {
      float[] query = Arrays.copyOf(search.queries().values(), search.queries().dimension());
      indexer
          .sampler()
          .offer(
              new RecallSampler.Asked(
                  index,
                  recall.target(),
                  choice,
                  size,
                  candidates.clone(),
                  filtered(),
                  search.k(),
                  query));
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
