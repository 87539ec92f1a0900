// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.ops.bench.engine.VectorFile;
import java.nio.file.Path;

/** One library under measurement. */
interface Contender extends AutoCloseable {

  /**
   * How a graph is built.
   *
   * @param m links a node on the upper levels; twice as many on the lowest
   * @param efConstruction candidates while a node is inserted
   * @param threads that build, where the library can use several
   */
  record BuildPlan(int m, int efConstruction, int threads) {}

  /** How hard a search tries: candidates that it keeps. */
  record Aim(int ef) {}

  /** Name and version, as reports show it. */
  String version();

  /**
   * Builds an index of all rows in an empty folder.
   *
   * @return threads that built it
   */
  int build(VectorFile base, BuildPlan plan, Path folder) throws Exception;

  /** Makes what {@link #build} left there ready to search. */
  void open(VectorFile base, BuildPlan plan, Path folder) throws Exception;

  /** Searches for one thread; made anew for each measurement. */
  Search search(Aim aim, int k) throws Exception;

  @Override
  void close() throws Exception;

  /** Searches of one thread. */
  interface Search {
    /**
     * Finds the k nearest rows of one query.
     *
     * @param queries components of all queries
     * @param query which of them
     * @param hits takes k row numbers from {@code query * k} on; what is not written stays -1
     */
    void run(float[] queries, int query, int[] hits) throws Exception;

    /** Nodes scored so far. */
    long visited();

    /** Bytes of vectors or codes that those and any rerank read, as far as they can be counted. */
    long bytes();
  }
}
