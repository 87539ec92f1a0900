// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.CodeQuery;
import io.sagitta.shard.hnsw.GraphSearcher;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.segment.Leases;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a few of the graph searches that are asked, in the background: once by the graph and once
 * exactly, over the same rows, and tells {@link LiveRecall} what was missed. One at a time, and
 * seldom enough to take no more than a hundredth of one core.
 */
public final class RecallSampler {
  private static final Logger LOG = LoggerFactory.getLogger(RecallSampler.class);

  /** Times as long as a sample took that pass before the next. */
  private static final int REST = 100;

  private static final int BLOCK_ROWS = 1_024;

  private final Leases<SegmentSet> published;
  private final Optional<IndexingOptions> indexing;

  /** Set while a sample waits or runs. */
  private final AtomicBoolean taken = new AtomicBoolean();

  private volatile long notBefore;
  private volatile boolean stopped;

  private final StopCheck check =
      () -> {
        if (stopped) {
          throw new IndexingStopped();
        }
      };

  RecallSampler(Leases<SegmentSet> published, Optional<IndexingOptions> indexing) {
    this.published = published;
    this.indexing = indexing;
    this.notBefore = indexing.map(options -> options.nanoTime().getAsLong()).orElse(0L);
    this.stopped = indexing.isEmpty();
  }

  /**
   * A graph search as it was asked.
   *
   * @param wanted the recall that was asked for
   * @param choice how the graph is searched
   * @param size rows of the segment that the graph held
   * @param candidates the rows it might find, a bit each
   * @param filtered whether a filter chose them
   * @param k hits wanted of the segment
   * @param query its components
   */
  public record Asked(
      FieldIndex index,
      double wanted,
      Calibration.Choice choice,
      int size,
      long[] candidates,
      boolean filtered,
      int k,
      float[] query) {}

  /** Whether it is time for a sample: then {@link #offer} one. Cheap; any thread. */
  public boolean isDue() {
    return !stopped && !taken.get() && now() - notBefore >= 0;
  }

  /** Repeats a search, soon, unless another is under way. Any thread. */
  public void offer(Asked asked) {
    if (!stopped && taken.compareAndSet(false, true)) {
      try {
        indexing.orElseThrow().executor().execute(() -> run(asked));
      } catch (RejectedExecutionException e) {
        taken.set(false); // The node is going down.
      }
    }
  }

  /** Ends the sample at hand and takes no more until {@link #resume}. */
  void stop() {
    stopped = true;
    synchronized (this) {
      taken.set(false);
    }
  }

  void resume() {
    stopped = indexing.isEmpty();
  }

  private long now() {
    return indexing.orElseThrow().nanoTime().getAsLong();
  }

  private synchronized void run(Asked asked) {
    long started = now();
    try {
      if (!stopped && asked.index.index().tryRetain()) {
        try (Leases.Lease<SegmentSet> lease = published.acquire()) {
          for (Segment segment : lease.value().segments()) {
            if (segment.number() == asked.index.segment()) {
              compare(asked, segment);
            }
          }
        } finally {
          asked.index.index().release();
        }
      }
    } catch (IndexingStopped | IllegalStateException e) {
      // The shard is closing: nothing to learn any more.
    } catch (RuntimeException e) {
      LOG.error("a search by the graph of {} could not be compared", asked.index.field().name(), e);
    } finally {
      long ended = now();
      notBefore = ended + REST * (ended - started);
      taken.set(false);
    }
  }

  private void compare(Asked asked, Segment segment) {
    IndexParameters parameters = asked.index.index().parameters();
    SegmentRows rows = new SegmentRows(segment, asked.index.field().fieldId());
    PreparedQuery exact =
        PreparedQuery.of(
            parameters.type(), parameters.metric(), parameters.dimension(), asked.query, 0);
    TopK truth = new TopK(asked.k, parameters.metric(), Long::compare);
    scan(asked, rows, exact, truth);
    TopK found = new TopK(asked.k, parameters.metric(), Long::compare);
    CodeQuery codes = new CodeQuery(parameters);
    codes.set(asked.query, 0);
    new GraphSearcher()
        .search(
            asked.index.index(),
            rows,
            exact,
            codes,
            asked.choice,
            asked.candidates,
            asked.size,
            Long.MAX_VALUE,
            check,
            found,
            0);
    int hits = truth.size();
    if (hits == 0) {
      return;
    }
    float[] trueScores = new float[asked.k];
    truth.drain(trueScores, new long[asked.k]);
    float[] scores = new float[asked.k];
    int count = found.drain(scores, new long[asked.k]);
    boolean higher = parameters.metric().higherIsBetter();
    float last = trueScores[hits - 1];
    int good = 0;
    for (int i = 0; i < count; i++) {
      good += (higher ? scores[i] >= last : scores[i] <= last) ? 1 : 0;
    }
    asked.index.live(asked.filtered).observed(asked.wanted, (double) Math.min(good, hits) / hits);
  }

  private void scan(Asked asked, SegmentRows rows, PreparedQuery exact, TopK heap) {
    int[] block = new int[BLOCK_ROWS];
    float[] scores = new float[BLOCK_ROWS];
    for (int from = 0; from < asked.size; from += BLOCK_ROWS) {
      check.check();
      int count = 0;
      for (int row = from; row < Math.min(asked.size, from + BLOCK_ROWS); row++) {
        if ((asked.candidates[row >> 6] >>> row & 1) != 0 && rows.has(row)) {
          block[count++] = row;
        }
      }
      rows.score(exact, block, 0, count, scores, 0);
      for (int i = 0; i < count; i++) {
        heap.offer(scores[i], block[i]);
      }
    }
  }
}
