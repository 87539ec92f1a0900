// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.engine.RecallCurve.Point;
import io.sagitta.ops.bench.process.ClusterException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Has one opened contender run a lane's queries, and judges every answer. */
final class Passes {
  private final PreparedLane lane;
  private final Worker worker;
  private final Path folder;

  Passes(PreparedLane lane, Worker worker, Path folder) {
    this.lane = lane;
    this.worker = worker;
    this.folder = folder;
  }

  /** All queries, one after the other. */
  Point pass(int ef) throws IOException {
    return pass(ef, 1);
  }

  /** All queries, by several threads. */
  Point pass(int ef, int threads) throws IOException {
    int count = lane.queries().rows();
    JsonNode answer = worker.ask(request(ef, count, threads));
    return new Point(
        ef,
        recall(count),
        count / answer.path("seconds").asDouble(),
        answer.path("visited").asDouble(Double.NaN),
        answer.path("bytes").asDouble(Double.NaN),
        answer.path("allocated").asDouble(Double.NaN));
  }

  /**
   * The first queries, each timed by itself.
   *
   * @param nanos of each query
   */
  record Timed(long[] nanos, double recall) {}

  /** Times the first {@code count} queries singly. */
  Timed singly(int ef, int count) throws IOException {
    Path each = folder.resolve("each.i64");
    worker.ask(request(ef, count, 1).put("each", each.toString()));
    long[] nanos = new long[count];
    ByteBuffer.wrap(Files.readAllBytes(each))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asLongBuffer()
        .get(nanos);
    return new Timed(nanos, recall(count));
  }

  /**
   * The least effort of {@link Sweep#EFFORTS} with at least this recall.
   *
   * @throws ClusterException none has
   */
  int leastEffort(double recall) throws IOException {
    for (int ef : Sweep.EFFORTS) {
      if (pass(ef).recall() >= recall) {
        return ef;
      }
    }
    throw new ClusterException("recall " + recall + " is out of reach");
  }

  private ObjectNode request(int ef, int count, int threads) {
    return Worker.request("search")
        .put("queries", lane.queries().path().toString())
        .put("dim", lane.queries().dimension())
        .put("from", 0)
        .put("to", count)
        .put("k", lane.truth().k())
        .put("ef", ef)
        .put("threads", threads)
        .put("hits", hits().toString());
  }

  private Path hits() {
    return folder.resolve("hits.i32");
  }

  private double recall(int count) throws IOException {
    int[] found = Truth.readInts(hits());
    if (found.length != count * lane.truth().k()) {
      throw new IOException(found.length + " hits for " + count + " queries");
    }
    return lane.truth().recall(found);
  }
}
