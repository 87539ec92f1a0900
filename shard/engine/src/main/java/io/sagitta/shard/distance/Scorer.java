// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import io.sagitta.model.Metric;
import java.util.Objects;

/**
 * Scores rows exactly: the only way from vectors to a score. Every call writes one float per row
 * into the caller's array and allocates nothing. Scores mean what the contract says: cosine
 * similarity in [-1, 1] and dot product (higher is better), Euclidean distance and differing bits
 * (lower is better), within 1e-5 of |q||v|, never NaN, the same bits on every machine and by every
 * one of these methods.
 *
 * <p>Bytes of null vectors are scored like any others (whatever they hold, without harm to other
 * rows); the caller leaves such rows out.
 */
public final class Scorer {
  static final RowKernels KERNELS = KernelChoice.choose();
  private static final RowKernels SCALAR = new ScalarKernels();

  /**
   * Rows that one tile of a scan for several queries may fill: half of a usual first-level cache.
   */
  private static final int TILE_BYTES = 16 * 1_024;

  private static final int TILE_ROWS_MIN = 16;

  private Scorer() {}

  /** Name of the kernels in use: {@code scalar}, {@code vector-256}, ... */
  public static String kernels() {
    return KERNELS.name();
  }

  /** Scores rows {@code [from, to)}: row {@code from + i} to {@code out[at + i]}. */
  public static void score(
      PreparedQuery query, VectorRows rows, int from, int to, float[] out, int at) {
    score(KERNELS, query, rows, null, from, to, out, at);
  }

  /** Scores rows {@code ordinals[from], ..., ordinals[to - 1]}: the i-th to {@code out[at + i]}. */
  public static void score(
      PreparedQuery query, VectorRows rows, int[] ordinals, int from, int to, float[] out, int at) {
    score(KERNELS, query, rows, ordinals, from, to, out, at);
  }

  /**
   * Scores rows {@code [from, to)} for several queries of one field in one pass over memory: row
   * {@code from + i} for query {@code j} to {@code out[j * (to - from) + i]}.
   */
  public static void score(
      PreparedQuery[] queries, VectorRows rows, int from, int to, float[] out) {
    score(KERNELS, queries, rows, from, to, out);
  }

  /**
   * Scores rows {@code ordinals[0], ..., ordinals[count - 1]} for several queries of one field in
   * one pass over memory: the i-th for query {@code j} to {@code out[j * count + i]}.
   */
  public static void score(
      PreparedQuery[] queries, VectorRows rows, int[] ordinals, int count, float[] out) {
    int tile = tileRows(rows);
    for (int start = 0; start < count; start += tile) {
      int end = Math.min(count, start + tile);
      for (int j = 0; j < queries.length; j++) {
        score(KERNELS, queries[j], rows, ordinals, start, end, out, j * count + start);
      }
    }
  }

  private static int tileRows(VectorRows rows) {
    return Math.max(TILE_ROWS_MIN, (TILE_BYTES / rows.type().bytes(rows.dimension())) & -4);
  }

  static void score(
      RowKernels kernels, PreparedQuery[] queries, VectorRows rows, int from, int to, float[] out) {
    int tile = tileRows(rows);
    for (int start = from; start < to; ) {
      int end = to - start > tile ? start + tile : to;
      for (int j = 0; j < queries.length; j++) {
        score(kernels, queries[j], rows, null, start, end, out, j * (to - from) + start - from);
      }
      start = end;
    }
  }

  static void score(
      RowKernels kernels,
      PreparedQuery query,
      VectorRows rows,
      int[] ordinals,
      int from,
      int to,
      float[] out,
      int at) {
    check(query, rows);
    if (to > from) {
      if (ordinals == null) {
        sumRange(kernels, query, rows, from, to, out, at);
      } else {
        sumOrdinals(kernels, query, rows, ordinals, from, to, out, at);
      }
      Finish.scores(query, rows, ordinals, from, to, out, at);
    }
  }

  private static void check(PreparedQuery query, VectorRows rows) {
    if (query.type() != rows.type() || query.dimension() != rows.dimension()) {
      throw new IllegalArgumentException(
          "query of "
              + query.dimension()
              + " x "
              + query.type()
              + " against rows of "
              + rows.dimension()
              + " x "
              + rows.type());
    }
    if (query.metric() == Metric.COSINE && !rows.hasInverseNorms()) {
      throw new IllegalArgumentException("cosine needs the rows' inverse norms");
    }
  }

  /**
   * Reads the range as four runs side by side. Each is sequential, which prefetching follows; four
   * neighbouring rows at a time are not, and took twice as long from memory.
   */
  private static void sumRange(
      RowKernels kernels,
      PreparedQuery query,
      VectorRows rows,
      int from,
      int to,
      float[] out,
      int at) {
    Objects.checkFromToIndex(from, to, rows.count());
    long limit = lastBlockwise(rows);
    int quarter = (to - from) / 4;
    int last = at + to - from - 1;
    for (int i = 0; i < quarter; i++) {
      long a = rows.address(from + i);
      long b = rows.address(from + i + quarter);
      long c = rows.address(from + i + 2 * quarter);
      long d = rows.address(from + i + 3 * quarter);
      sum(d <= limit ? kernels : SCALAR, query, a, b, c, d, out, at + i, quarter, last);
    }
    int rest = from + 4 * quarter;
    if (rest < to) {
      long a = rows.address(rest);
      long b = rows.address(Math.min(rest + 1, to - 1));
      long c = rows.address(Math.min(rest + 2, to - 1));
      RowKernels able = rows.address(to - 1) <= limit ? kernels : SCALAR;
      sum(able, query, a, b, c, c, out, at + 4 * quarter, 1, last);
    }
  }

  private static void sumOrdinals(
      RowKernels kernels,
      PreparedQuery query,
      VectorRows rows,
      int[] ordinals,
      int from,
      int to,
      float[] out,
      int at) {
    long limit = lastBlockwise(rows);
    int last = to - 1;
    for (int i = from; i < to; i += 4) {
      long a = checkedAddress(rows, ordinals[i]);
      long b = checkedAddress(rows, ordinals[Math.min(i + 1, last)]);
      long c = checkedAddress(rows, ordinals[Math.min(i + 2, last)]);
      long d = checkedAddress(rows, ordinals[Math.min(i + 3, last)]);
      boolean blockwise = Math.max(Math.max(a, b), Math.max(c, d)) <= limit;
      sum(blockwise ? kernels : SCALAR, query, a, b, c, d, out, at + i - from, 1, at + last - from);
    }
  }

  private static long checkedAddress(VectorRows rows, int ordinal) {
    return rows.address(Objects.checkIndex(ordinal, rows.count()));
  }

  /**
   * The last address behind which whole blocks are readable; rows after it are scored one by one.
   */
  private static long lastBlockwise(VectorRows rows) {
    int block =
        switch (rows.type()) {
          case FLOAT32 -> RowKernels.LANES * Float.BYTES;
          case FLOAT16, BFLOAT16 -> RowKernels.LANES * Short.BYTES;
          // The 128-bit kernels load 8 bytes where they use 4.
          case INT8, UINT8 -> RowKernels.LANES + Integer.BYTES;
          case BINARY -> RowKernels.BIT_BLOCK_BYTES;
        };
    return rows.end() - rows.type().bytes(rows.dimension()) - block;
  }

  private static void sum(
      RowKernels kernels,
      PreparedQuery q,
      long a,
      long b,
      long c,
      long d,
      float[] out,
      int at,
      int step,
      int last) {
    switch (q.kernel) {
      case DOT_FLOAT32 -> kernels.dotFloat32(a, b, c, d, q, out, at, step, last);
      case SQUARE_FLOAT32 -> kernels.squareFloat32(a, b, c, d, q, out, at, step, last);
      case DOT_FLOAT16 -> kernels.dotFloat16(a, b, c, d, q, out, at, step, last);
      case SQUARE_FLOAT16 -> kernels.squareFloat16(a, b, c, d, q, out, at, step, last);
      case DOT_INT8 -> kernels.dotInt8(a, b, c, d, q, out, at, step, last);
      case SQUARE_INT8 -> kernels.squareInt8(a, b, c, d, q, out, at, step, last);
      case DOT_INT8_FLOAT -> kernels.dotInt8Float(a, b, c, d, q, out, at, step, last);
      case SQUARE_INT8_FLOAT -> kernels.squareInt8Float(a, b, c, d, q, out, at, step, last);
      case HAMMING -> kernels.hamming(a, b, c, d, q, out, at, step, last);
    }
  }
}
