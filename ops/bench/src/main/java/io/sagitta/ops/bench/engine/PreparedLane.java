// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.io.IOException;

/** A lane with this run's queries and their true hits. */
record PreparedLane(Lane lane, DataSet data, VectorFile queries, Truth truth) {

  /** Draws the queries, or as many as there are, and finds or computes their true hits. */
  static PreparedLane of(Lane lane, int queryCount, long seed, Workers workers)
      throws IOException, InterruptedException {
    DataSet data = DataSet.load(lane.source(), workers.log());
    VectorFile queries =
        QuerySet.draw(
            lane.pool(data),
            queryCount,
            seed,
            workers.folder().resolve(lane.id() + "-" + queryCount + "-queries.f32"));
    return new PreparedLane(lane, data, queries, truth(lane, data, queries, workers));
  }

  private static Truth truth(Lane lane, DataSet data, VectorFile queries, Workers workers)
      throws IOException {
    String key = lane.id() + "-" + queries.rows() + "-" + DataSet.checksum(queries.path());
    return Truth.of(data, queries, key, EngineCommand.K, workers);
  }

  /** The same queries over the first rows only. */
  PreparedLane shrunkTo(int rows, Workers workers) throws IOException {
    DataSet small = data.shrunkTo(rows, workers.folder());
    return new PreparedLane(lane, small, queries, truth(lane, small, queries, workers));
  }
}
