// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.engine.VectorFile;
import io.sagitta.ops.bench.engine.worker.Contender.Aim;
import io.sagitta.ops.bench.engine.worker.Contender.Search;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Runs a file of queries through a contender and takes the time. */
final class SearchRun {
  /** Queries that a thread takes at a time where several search: few, so that all end together. */
  private static final int TAKEN = 16;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Queries already read, by path: reading them is not part of a search. */
  private final Map<String, float[]> queries = new HashMap<>();

  void run(Contender contender, Aim aim, JsonNode request, ObjectNode answer) throws Exception {
    int k = request.path("k").asInt();
    int from = request.path("from").asInt();
    int to = request.path("to").asInt();
    int threads = request.path("threads").asInt();
    float[] components = read(request);
    int[] hits = new int[to * k];
    Arrays.fill(hits, -1);
    if (request.has("each")) {
      each(contender.search(aim, k), components, from, to, hits, request, answer);
    } else if (threads == 1) {
      single(contender.search(aim, k), components, from, to, hits, answer);
    } else {
      Search[] searches = new Search[threads];
      for (int t = 0; t < threads; t++) {
        searches[t] = contender.search(aim, k);
      }
      parallel(searches, components, from, to, hits, answer);
    }
    write(Path.of(request.path("hits").asText()), hits, from * k);
  }

  private float[] read(JsonNode request) throws IOException {
    String path = request.path("queries").asText();
    float[] read = queries.get(path);
    if (read == null) {
      read = VectorFile.of(Path.of(path), request.path("dim").asInt()).read();
      queries.put(path, read);
    }
    return read;
  }

  private static void single(
      Search search, float[] components, int from, int to, int[] hits, ObjectNode answer)
      throws Exception {
    long allocated = THREADS.getCurrentThreadAllocatedBytes();
    long start = System.nanoTime();
    for (int query = from; query < to; query++) {
      search.run(components, query, hits);
    }
    long nanos = System.nanoTime() - start;
    allocated = THREADS.getCurrentThreadAllocatedBytes() - allocated;
    double count = to - from;
    answer
        .put("seconds", nanos / 1e9)
        .put("visited", search.visited() / count)
        .put("bytes", search.bytes() / count)
        .put("allocated", allocated / count);
  }

  private static void each(
      Search search,
      float[] components,
      int from,
      int to,
      int[] hits,
      JsonNode request,
      ObjectNode answer)
      throws Exception {
    ByteBuffer nanos = ByteBuffer.allocate((to - from) * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    long start = System.nanoTime();
    long last = start;
    for (int query = from; query < to; query++) {
      search.run(components, query, hits);
      long now = System.nanoTime();
      nanos.putLong(now - last);
      last = now;
    }
    answer.put("seconds", (last - start) / 1e9);
    Files.write(Path.of(request.path("each").asText()), nanos.array());
  }

  private static void parallel(
      Search[] searches, float[] components, int from, int to, int[] hits, ObjectNode answer)
      throws Exception {
    AtomicInteger next = new AtomicInteger(from);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread[] threads = new Thread[searches.length];
    long start = System.nanoTime();
    for (int t = 0; t < threads.length; t++) {
      Search search = searches[t];
      threads[t] =
          Thread.ofPlatform()
              .name("search-" + t)
              .start(
                  () -> {
                    try {
                      for (int at; (at = next.getAndAdd(TAKEN)) < to; ) {
                        for (int query = at; query < Math.min(at + TAKEN, to); query++) {
                          search.run(components, query, hits);
                        }
                      }
                    } catch (Exception | Error e) {
                      failure.compareAndSet(null, e);
                    }
                  });
    }
    for (Thread thread : threads) {
      thread.join();
    }
    answer.put("seconds", (System.nanoTime() - start) / 1e9);
    if (failure.get() != null) {
      throw new IllegalStateException("a search failed", failure.get());
    }
  }

  private static void write(Path path, int[] values, int from) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocate((values.length - from) * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(values, from, values.length - from);
    Files.write(path, bytes.array());
  }
}
