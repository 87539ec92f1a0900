// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A lane's rows, queries drawn for a run, and the true hits: what {@code bench engine} measures the
 * graph with, for those who measure a node with it. Any thread, until it is closed.
 */
public final class LaneVectors implements AutoCloseable {
  private final Lane lane;
  private final DataSet data;
  private final float[] queries;
  private final Truth truth;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment rows;

  private LaneVectors(PreparedLane prepared) throws IOException {
    this.lane = prepared.lane();
    this.data = prepared.data();
    this.queries = prepared.queries().read();
    this.truth = prepared.truth();
    this.rows = data.base().map(arena);
  }

  /** Names of all lanes. */
  public static List<String> names() {
    return Arrays.stream(Lane.values()).map(Lane::id).toList();
  }

  /**
   * A lane with queries drawn by a seed; the data is made where the cache does not have it.
   *
   * @throws SagittaException INVALID_ARGUMENT: no such lane, or fewer vectors are held out
   */
  public static LaneVectors open(String name, int queryCount, long seed, PrintStream log)
      throws IOException, InterruptedException {
    Lane lane = EngineCommand.all(List.of(name), "--lane", Lane::of, Lane.values()).getFirst();
    Path folder = Files.createTempDirectory("sagitta-lane-");
    try {
      return new LaneVectors(PreparedLane.of(lane, queryCount, seed, new Workers(folder, log)));
    } finally {
      DataSet.deleteTree(folder);
    }
  }

  public String name() {
    return lane.id();
  }

  /** Names the rows: lanes with the same rows and other queries have the same. */
  public String rowsKey() {
    return data.checksum();
  }

  public int rows() {
    return data.base().rows();
  }

  public int dimension() {
    return data.base().dimension();
  }

  /** A row, of unit length. */
  public float[] row(int row) {
    return data.base().row(rows, row);
  }

  public int queries() {
    return truth.queries();
  }

  /** A query, of unit length; no row is made from it. */
  public float[] query(int query) {
    return Arrays.copyOfRange(queries, query * dimension(), (query + 1) * dimension());
  }

  /** Hits a query has in {@link #recalls}. */
  public int k() {
    return truth.k();
  }

  /**
   * The share of its true hits that each query's answer has.
   *
   * @param first the query that was answered first
   * @param answers {@link #k} row numbers a query, -1 where there is none
   */
  public double[] recalls(int first, int[] answers) throws IOException {
    return truth.recalls(first, answers);
  }

  @Override
  public void close() {
    arena.close();
  }
}
