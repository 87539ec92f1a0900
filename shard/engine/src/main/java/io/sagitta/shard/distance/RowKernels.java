// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * Raw sums of one query against four rows, as the package's canonical arithmetic defines them. One
 * implementation per register width; all give the same bits.
 *
 * <p>Every method scores the rows at addresses {@code a, b, c, d} and writes to {@code out[at]},
 * {@code out[min(at + 1, last)]}, and so on: a caller with fewer than four rows left repeats its
 * last row. Four rows at once hide the latency of the one dependent chain that the fixed order
 * leaves each row. Implementations other than the scalar one read whole blocks of 16 components (64
 * bytes for bits), so at least that much must be readable behind each address.
 *
 * <p>The methods are small on purpose: a Vector API method that outgrows the compiler's inlining
 * limits allocates its vectors on the heap.
 */
abstract class RowKernels {
  /** Accumulators of a sum, and components read at a time. */
  static final int LANES = 16;

  /** Components after which the accumulators are added to the totals. */
  static final int CHUNK = 1_024;

  /** Bytes of bits read at a time. */
  static final int BIT_BLOCK_BYTES = 64;

  /** Name in logs and benchmarks. */
  abstract String name();

  abstract void dotFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void squareFloat32(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void dotFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void squareFloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void dotBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void squareBfloat16(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void dotInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last);

  abstract void squareInt8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last);

  abstract void dotUint8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last);

  abstract void squareUint8(
      long a, long b, long c, long d, int[] query, int dim, float[] out, int at, int last);

  /** int8 rows under a query with fractions. */
  abstract void dotInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void squareInt8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  /** uint8 rows under a query with fractions. */
  abstract void dotUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  abstract void squareUint8Float(
      long a, long b, long c, long d, float[] query, int dim, float[] out, int at, int last);

  /**
   * Differing bits.
   *
   * @param query packed bits, zero padded to blocks of 8 longs
   * @param mask ones where a component is, zero padded likewise
   * @param bytes bytes of a row
   */
  abstract void hamming(
      long a,
      long b,
      long c,
      long d,
      long[] query,
      long[] mask,
      int bytes,
      float[] out,
      int at,
      int last);
}
