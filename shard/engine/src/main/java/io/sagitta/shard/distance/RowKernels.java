// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * Raw sums of one query against four rows, as the package's canonical arithmetic defines them. One
 * implementation per register width; all give the same bits.
 *
 * <p>Every method scores the rows at addresses {@code a, b, c, d} and writes to {@code out[at]},
 * {@code out[min(at + step, max)]}, {@code out[min(at + 2 * step, max)]} and so on: a caller with
 * fewer than four rows left repeats its last row. Four rows at once hide the latency of the one
 * dependent chain that the fixed order leaves each row.
 *
 * <p>The query's arrays are padded to whole blocks of 16 components (64 bytes for bits), so that
 * one loop handles any dimension. All but the scalar kernels read whole blocks of a row too, so
 * that much must be readable behind each address; what they read behind the row is masked by {@link
 * PreparedQuery#keep} and may be anything, NaN included.
 *
 * <p><b>Why nothing is factored out of the vector kernels.</b> C2 stops inlining ordinary methods
 * once a compilation holds 18,000 nodes, which four rows reach; a helper that takes or returns a
 * vector is then called for real and every vector goes through the heap: hundreds of bytes a row
 * and five times the time. Calls into the Vector API itself are always inlined. For the same reason
 * a process uses one width: with several, the API's own call sites see several classes and C2 boxes
 * what it cannot pin down. Measured, and {@code KernelDisciplineTest} watches.
 *
 * <p><b>Why no operation is called on a sum that a loop carries.</b> C2 knows such a variable only
 * as some {@code FloatVector}, since a loop's variables have their declared types, so a call on it
 * rests on a profile. It takes no profile's word once the methods inlined so far have been
 * deoptimised 100 times together ({@code PerMethodTrapLimit}), and each of the API's own small
 * methods, which were compiled by themselves for the first vector class they met, brings up to four
 * every time it is inlined. The call is then kept as a second path, and for its sake the sums lie
 * on the heap for the life of the process; seen in a few of 100 JVMs, more on a busy machine. So a
 * sum is an argument: {@code product.add(sum)}, or {@code ONE.fma(sum, total)}, which is the same
 * bits.
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

  /** Those of the same width that read codes. */
  abstract CodeKernels codes();

  abstract void dotFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  abstract void squareFloat32(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  /**
   * Both kinds of 16-bit floats: a component is its bits, sign extended, shifted left, masked, read
   * as a float, times the query's {@code scale}. A bfloat16 is the upper half of a float (shift 16,
   * scale 1). A float16 shifted by 13 stands where a float's bits do and means its value times
   * 2^-112, subnormals included, so a scale of 2^112 makes it exact.
   */
  abstract void dotFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  abstract void squareFloat16(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  /**
   * Both kinds of bytes: {@code keep} leaves 8 bits of a uint8 and all 32 of a sign-extended int8.
   */
  abstract void dotInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  abstract void squareInt8(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  /** Bytes under a query with fractions. */
  abstract void dotInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  abstract void squareInt8Float(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);

  /** Differing bits. */
  abstract void hamming(
      long a, long b, long c, long d, PreparedQuery query, float[] out, int at, int step, int max);
}
