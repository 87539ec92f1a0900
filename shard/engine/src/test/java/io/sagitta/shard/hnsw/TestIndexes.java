// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.TopK;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Builds and asks indexes as an engine would. */
final class TestIndexes {
  private TestIndexes() {}

  static VectorIndex build(TestData data) {
    return build(data, 2, data.centre());
  }

  static VectorIndex build(TestData data, int workers, float[] centre) {
    VectorIndex index = VectorIndex.empty(data.parameters(), centre);
    index.reserve(data.count());
    encode(index, data, 0, data.count());
    insert(index, 0, data.count(), workers);
    index.publish(data.count());
    return index;
  }

  static void encode(VectorIndex index, TestData data, int from, int to) {
    long[] hashes = new long[to - from];
    Arrays.setAll(hashes, i -> from + i);
    index.encode(from, data.rows, from, to, null, hashes);
  }

  static void insert(VectorIndex index, int from, int to, int workers) {
    AtomicInteger next = new AtomicInteger(from);
    runAll(
        workers,
        () -> {
          GraphBuilder builder = new GraphBuilder(index);
          for (int row = next.getAndIncrement(); row < to; row = next.getAndIncrement()) {
            builder.insert(row);
          }
          return null;
        });
  }

  /** Runs it on several threads and waits; rethrows what one threw. */
  static void runAll(int threads, Callable<Void> task) {
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<Void>> done = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        done.add(executor.submit(task));
      }
      for (Future<Void> future : done) {
        future.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static final class Answer {
    int[] ordinals;
    int count;
    long visited;
    boolean gaveUp;
  }

  /** The best {@code k} after exact scoring. */
  static Answer ask(
      GraphSearcher searcher,
      VectorIndex index,
      TestData data,
      float[] query,
      int k,
      Effort effort) {
    return ask(searcher, index, data, query, k, effort, null, index.size(), Long.MAX_VALUE);
  }

  static Answer ask(
      GraphSearcher searcher,
      VectorIndex index,
      TestData data,
      float[] query,
      int k,
      Effort effort,
      BitSet accept,
      int limit,
      long visitedMax) {
    TopK heap = new TopK(k, data.metric, Long::compare);
    long[] bits = accept == null ? null : Arrays.copyOf(accept.toLongArray(), words(data.count()));
    searcher.search(
        index,
        data.exactRows(),
        data.exact(query),
        data.coded(query),
        effort,
        bits,
        limit,
        visitedMax,
        StopCheck.NEVER,
        heap,
        0);
    return answer(searcher, heap, k);
  }

  /** The best {@code k} as a calibration chose. */
  static Answer ask(
      GraphSearcher searcher,
      VectorIndex index,
      TestData data,
      float[] query,
      int k,
      Calibration.Choice choice) {
    TopK heap = new TopK(k, data.metric, Long::compare);
    searcher.search(
        index,
        data.exactRows(),
        data.exact(query),
        data.coded(query),
        choice,
        null,
        index.size(),
        Long.MAX_VALUE,
        StopCheck.NEVER,
        heap,
        0);
    return answer(searcher, heap, k);
  }

  private static Answer answer(GraphSearcher searcher, TopK heap, int k) {
    Answer answer = new Answer();
    long[] refs = new long[k];
    answer.count = heap.drain(new float[k], refs);
    answer.ordinals = Arrays.stream(refs).limit(answer.count).mapToInt(ref -> (int) ref).toArray();
    answer.visited = searcher.visited();
    answer.gaveUp = searcher.gaveUp();
    return answer;
  }

  static int words(int bits) {
    return (bits + 63) / 64;
  }
}
