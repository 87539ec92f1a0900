// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.ops.bench.Progress;
import io.sagitta.ops.bench.process.ClusterException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits for graphs, which nodes build in the background. */
public final class Graphs {
  /** Rows over what a search compares, once graphs are there. */
  private static final int SMALL_PART = 10;

  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(20);
  private static final Duration POLL = Duration.ofMillis(500);

  private Graphs() {}

  /**
   * Waits until a search compares but a small part of the rows.
   *
   * @param rows how many the collection has
   * @param query what is searched for
   * @return seconds waited
   */
  public static double await(
      SagittaClient client, String collection, int rows, float[] query, PrintStream log)
      throws InterruptedException {
    Progress progress = new Progress(log, "building graphs", rows);
    long begin = System.nanoTime();
    long visited = visited(client, collection, query);
    while (visited > rows / SMALL_PART) {
      if (System.nanoTime() - begin > LONGEST_NANOS) {
        throw new ClusterException(
            "after "
                + TimeUnit.NANOSECONDS.toMinutes(LONGEST_NANOS)
                + " minutes a search still compares "
                + visited
                + " of "
                + rows
                + " rows: the graphs are not built");
      }
      progress.at(Math.max(0, rows - visited));
      Thread.sleep(POLL);
      visited = visited(client, collection, query);
    }
    progress.at(rows);
    return (System.nanoTime() - begin) / 1e9;
  }

  private static long visited(SagittaClient client, String collection, float[] query) {
    try (Answer answer = client.search(collection).vectors(query).k(1).run()) {
      return answer.certificate().orElseThrow().visited();
    }
  }
}
