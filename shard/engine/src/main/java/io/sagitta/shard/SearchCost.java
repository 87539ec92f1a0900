// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.VectorField;
import io.sagitta.shard.hnsw.Calibration;

/**
 * What a scan and a graph search cost, in nanoseconds of one core. Only their ratio matters; the
 * constants are rounded from what {@code bench engine} and the shard's own benchmark measure: a
 * scan reads memory at some 14 GB/s, a graph touches rows at random.
 */
final class SearchCost {
  private static final double SCAN_BYTES_PER_NS = 14;
  private static final double SCAN_ROW_NS = 3;

  /** A scan for several queries reads its rows once; then arithmetic is what is left. */
  private static final int SHARED_MAX = 5;

  private static final double VISIT_NS = 20;
  private static final double VISIT_NS_PER_CODE_BYTE = 0.3;
  private static final double RERANK_NS = 60;
  private static final double RERANK_NS_PER_BYTE = 0.1;

  private final double scanRowNs;
  private final double visitNs;
  private final double rerankNs;

  private SearchCost(double scanRowNs, double visitNs, double rerankNs) {
    this.scanRowNs = scanRowNs;
    this.visitNs = visitNs;
    this.rerankNs = rerankNs;
  }

  /** Costs for a field, of one query among {@code queries} that are asked together. */
  static SearchCost of(VectorField field, int queries) {
    int bytes = field.vectorBytes();
    int codeBytes = (field.dimension() + 1) / 2;
    return new SearchCost(
        SCAN_ROW_NS + bytes / SCAN_BYTES_PER_NS / Math.min(queries, SHARED_MAX),
        VISIT_NS + codeBytes * VISIT_NS_PER_CODE_BYTE,
        RERANK_NS + bytes * RERANK_NS_PER_BYTE);
  }

  /** Of scoring rows one after the other. */
  double scan(int rows) {
    return rows * scanRowNs;
  }

  /**
   * Of a graph search that only takes a share of what it meets, so that it must meet more.
   *
   * @param share of the graph's rows that match
   * @param rows of the graph; more cannot be visited
   */
  double graph(Calibration.Choice choice, double share, int rows) {
    double visits = Math.min(rows, choice.visited() / share);
    return visits * visitNs + choice.effort().rerank() * rerankNs;
  }

  /** Visits that cost so much. */
  long visits(double ns) {
    return (long) Math.ceil(ns / visitNs);
  }
}
