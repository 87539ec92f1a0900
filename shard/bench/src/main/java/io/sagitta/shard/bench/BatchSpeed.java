// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.distance.VectorRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * What an exact scan for a batch of queries gains over one scan each: {@code BatchSpeed [rows
 * [dimension [queries]]]}. All ways take turns in one JVM; printed are medians of the thread's CPU
 * time and their ratio to single scans. Every way must give the same hits with the same scores, bit
 * for bit.
 */
public final class BatchSpeed {
  private static final int BLOCK = 1_024;
  private static final int K = 10;
  private static final int ROUNDS = 11;

  private final int rows;
  private final VectorRows vectors;
  private final PreparedQuery[] queries;
  private final int[] picked;
  private final float[] scores;

  /** Ways to scan. */
  private enum Way {
    /** One query after the other over all rows. */
    SINGLE_ALL,
    /** All queries over tiles of rows that stay in the first-level cache. */
    BATCH_ALL,
    /** As the first, over the rows that a filter leaves. */
    SINGLE_PICKED,
    /** Blocks of 1,024 rows, in each one query after the other. */
    BLOCKS_PICKED,
    /** All queries over tiles of the rows left. */
    BATCH_PICKED
  }

  private BatchSpeed(int rows, int dimension, int count) {
    SplittableRandom random = new SplittableRandom(42);
    this.rows = rows;
    MemorySegment memory = Arena.ofAuto().allocate((long) rows * dimension * Float.BYTES + 64, 64);
    for (long i = 0; i < (long) rows * dimension; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, random.nextFloat() - 0.5f);
    }
    vectors = VectorRows.packed(VectorType.FLOAT32, dimension, rows, memory);
    queries = new PreparedQuery[count];
    for (int q = 0; q < count; q++) {
      float[] values = new float[dimension];
      for (int i = 0; i < dimension; i++) {
        values[i] = random.nextFloat() - 0.5f;
      }
      queries[q] = PreparedQuery.of(VectorType.FLOAT32, Metric.DOT, dimension, values, 0);
    }
    picked =
        random.ints(0, rows).filter(i -> i % 5 == 0).distinct().limit(rows / 6).sorted().toArray();
    scores = new float[BLOCK * count];
  }

  /** See the class. */
  public static void main(String[] args) {
    int rows = args.length > 0 ? Integer.parseInt(args[0]) : 50_000;
    int dimension = args.length > 1 ? Integer.parseInt(args[1]) : 384;
    int count = args.length > 2 ? Integer.parseInt(args[2]) : 64;
    System.out.printf(
        Locale.ROOT, "%d rows x %d, %d queries, %s%n", rows, dimension, count, Scorer.kernels());
    new BatchSpeed(rows, dimension, count).run();
  }

  private void run() {
    double[][] ms = new double[Way.values().length][ROUNDS];
    for (int round = -2; round < ROUNDS; round++) { // two to warm up
      long[] truth = new long[2];
      for (Way way : Way.values()) {
        TopK[] heaps = new TopK[queries.length];
        Arrays.setAll(heaps, q -> new TopK(K, Metric.DOT, Long::compare));
        long started = cpuNs();
        scan(way, heaps);
        double took = (cpuNs() - started) / 1e6;
        long hits = hits(heaps);
        int kind = way.ordinal() < Way.SINGLE_PICKED.ordinal() ? 0 : 1;
        if (way == Way.SINGLE_ALL || way == Way.SINGLE_PICKED) {
          truth[kind] = hits;
        } else if (truth[kind] != hits) {
          throw new IllegalStateException(way + " gives other hits");
        }
        if (round >= 0) {
          ms[way.ordinal()][round] = took;
        }
      }
    }
    for (Way way : Way.values()) {
      double base = median(ms[way.ordinal() < 2 ? 0 : 2]);
      double median = median(ms[way.ordinal()]);
      System.out.printf(
          Locale.ROOT,
          "%-14s %8.1f ms (%.1f to %.1f)  %.2f times as fast%n",
          way,
          median,
          Arrays.stream(ms[way.ordinal()]).min().orElseThrow(),
          Arrays.stream(ms[way.ordinal()]).max().orElseThrow(),
          base / median);
    }
  }

  private void scan(Way way, TopK[] heaps) {
    switch (way) {
      case SINGLE_ALL -> {
        for (int q = 0; q < queries.length; q++) {
          for (int from = 0; from < rows; from += BLOCK) {
            int to = Math.min(rows, from + BLOCK);
            Scorer.score(queries[q], vectors, from, to, scores, 0);
            heaps[q].offerAll(scores, 0, to - from, from);
          }
        }
      }
      case BATCH_ALL -> {
        for (int from = 0; from < rows; from += BLOCK) {
          int to = Math.min(rows, from + BLOCK);
          Scorer.score(queries, vectors, from, to, scores);
          for (int q = 0; q < queries.length; q++) {
            heaps[q].offerAll(scores, q * (to - from), to - from, from);
          }
        }
      }
      case SINGLE_PICKED -> {
        for (int q = 0; q < queries.length; q++) {
          for (int from = 0; from < picked.length; from += BLOCK) {
            one(q, block(from), heaps[q]);
          }
        }
      }
      case BLOCKS_PICKED -> {
        for (int from = 0; from < picked.length; from += BLOCK / 6) {
          int[] block = Arrays.copyOfRange(picked, from, Math.min(picked.length, from + BLOCK / 6));
          for (int q = 0; q < queries.length; q++) {
            one(q, block, heaps[q]);
          }
        }
      }
      case BATCH_PICKED -> {
        for (int from = 0; from < picked.length; from += BLOCK / 6) {
          int[] block = Arrays.copyOfRange(picked, from, Math.min(picked.length, from + BLOCK / 6));
          Scorer.score(queries, vectors, block, block.length, scores);
          for (int q = 0; q < queries.length; q++) {
            heaps[q].offerAll(scores, q * block.length, block, block.length, 0);
          }
        }
      }
    }
  }

  private int[] block(int from) {
    return Arrays.copyOfRange(picked, from, Math.min(picked.length, from + BLOCK));
  }

  private void one(int q, int[] block, TopK heap) {
    Scorer.score(queries[q], vectors, block, 0, block.length, scores, 0);
    heap.offerAll(scores, 0, block, block.length, 0);
  }

  /** One number of all hits and the bits of their scores. */
  private static long hits(TopK[] heaps) {
    long all = 0;
    float[] best = new float[K];
    long[] refs = new long[K];
    for (TopK heap : heaps) {
      heap.drain(best, refs);
      all = 31 * (31 * all + Arrays.hashCode(best)) + Arrays.hashCode(refs);
    }
    return all;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static long cpuNs() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
