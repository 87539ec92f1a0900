// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.hnsw.GraphBuilder;
import io.sagitta.shard.hnsw.GraphConnector;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.NeighbourCoding;
import io.sagitta.shard.hnsw.NeighbourTrial;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Builds this engine's index of rows in memory, by several threads. */
final class GraphBuild {
  private static final int ENCODED_AT_ONCE = 1_024;

  /** About what a recall of 0.95 needs on word vectors. */
  private static final Effort TRIAL = new Effort(96, 40, Traversal.FOUR);

  private final VectorRows rows;
  private final VectorIndex index;

  GraphBuild(IndexParameters parameters, float[] centre, VectorRows rows) {
    this.rows = rows;
    this.index = VectorIndex.empty(parameters, centre);
  }

  /** Encodes and inserts all rows. */
  VectorIndex run(int threads) throws InterruptedException {
    index.reserve(rows.count());
    inParallel(threads, ENCODED_AT_ONCE, () -> this::encode);
    inParallel(
        threads,
        1,
        () -> {
          GraphBuilder builder = new GraphBuilder(index);
          return (from, to) -> builder.insert(from);
        });
    index.publish(rows.count());
    return index;
  }

  /** As a node does with a complete segment: codes of neighbours, where a trial says they pay. */
  void codeNeighbours(int threads) throws InterruptedException {
    GraphConnector.connect(index);
    if (!NeighbourCoding.mayPay(index.parameters())) {
      return;
    }
    try (NeighbourCoding coding = NeighbourCoding.begin(index, StopCheck.NEVER).orElseThrow()) {
      inParallel(
          threads,
          1,
          () -> {
            NeighbourCoding.Writer writer = coding.writer();
            return (from, to) -> writer.write(from);
          });
      coding.show();
      NeighbourTrial trial =
          new NeighbourTrial(
              index,
              TRIAL,
              ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime,
              StopCheck.NEVER);
      if (!trial.run().pays()) {
        coding.hide();
      }
    }
  }

  private void encode(int from, int to) {
    long[] hashes = new long[to - from];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = mixed(from + i);
    }
    index.encode(from, rows, from, to, null, hashes);
  }

  /** A hash of a row's number, in place of that of a point's id (the finaliser of MurmurHash3). */
  private static long mixed(long row) {
    long hash = (row ^ (row >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return hash ^ (hash >>> 33);
  }

  /** Work on rows [from, to) by one thread. */
  @FunctionalInterface
  private interface RowWork {
    void run(int from, int to);
  }

  /** Makes a thread's work. */
  @FunctionalInterface
  private interface RowWorker {
    RowWork begin();
  }

  private void inParallel(int threads, int atOnce, RowWorker worker) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread[] all = new Thread[threads];
    for (int t = 0; t < threads; t++) {
      all[t] =
          Thread.ofPlatform()
              .name("build-" + t)
              .start(
                  () -> {
                    try {
                      RowWork work = worker.begin();
                      for (int at; (at = next.getAndAdd(atOnce)) < rows.count(); ) {
                        work.run(at, Math.min(at + atOnce, rows.count()));
                      }
                    } catch (RuntimeException | Error e) {
                      failure.compareAndSet(null, e);
                      next.set(rows.count());
                    }
                  });
    }
    for (Thread thread : all) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException("the index could not be built", failure.get());
    }
  }
}
