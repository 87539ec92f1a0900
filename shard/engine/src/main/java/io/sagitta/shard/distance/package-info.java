// SPDX-License-Identifier: Apache-2.0

/**
 * Scores of vectors: exact, the same bits on every machine, without garbage.
 *
 * <p>Read {@link io.sagitta.shard.distance.Scorer} first. A {@link
 * io.sagitta.shard.distance.VectorRows} says where rows lie, a {@link
 * io.sagitta.shard.distance.PreparedQuery} is made once per search, the scorer writes one float per
 * row, {@link io.sagitta.shard.distance.TopK} keeps the best.
 *
 * <p><b>Canonical arithmetic.</b> Replicas on different processors must order the same rows the
 * same way, so the order of every floating-point operation is fixed here and not left to a
 * compiler:
 *
 * <ol>
 *   <li>A raw sum over components {@code i = 0..d-1} has 16 float accumulators, all starting at +0.
 *       Component {@code i} goes to accumulator {@code i mod 16} by one fused multiply-add, in
 *       ascending {@code i}: {@code a = fma(q[i], v[i], a)} for a dot product, {@code a = fma(t, t,
 *       a)} with {@code t = q[i] - v[i]} for a squared distance. Components beyond {@code d} count
 *       as zero on both sides.
 *   <li>After every 1,024 components the 16 accumulators are added to 16 totals, lane by lane, and
 *       start at +0 again. Rounding then cannot build up over more than 64 + 16 steps, which keeps
 *       16,384 components within 6e-6 of |q||v|.
 *   <li>The 16 totals become one sum by the tree {@code r8[j] = t[j] + t[j+8]}, {@code r4[j] =
 *       r8[j] + r8[j+4]}, {@code r2[j] = r4[j] + r4[j+2]}, {@code r2[0] + r2[1]}, plus +0 so that
 *       no score is a negative zero.
 *   <li>Integer components under an integer query, and bits, are summed exactly and rounded once.
 *   <li>A raw sum becomes a score in {@link io.sagitta.shard.distance.Finish}, whose few scalar
 *       operations are in double; what overflowed or underflowed is computed anew in double by
 *       {@link io.sagitta.shard.distance.WideScore}. A score is never NaN and never infinite.
 * </ol>
 *
 * <p>This maps onto one 512-bit register, two of 256 or four of 128 bits, and sixteen scalars:
 * {@link io.sagitta.shard.distance.RowKernels} has one implementation for each, and tests hold all
 * to the same bits. {@code reduceLanes} on floats has no specified order and is forbidden by a
 * test.
 *
 * <p><b>Codes.</b> A graph is walked by estimates from 4 or 8 bits a component, or from bits:
 * {@link io.sagitta.shard.distance.CodeScorer}. Their sums are integers, so they too are the same
 * everywhere. {@link io.sagitta.shard.distance.CodeLayout} says what a row's code looks like. What
 * lies beside a row's links is coded by runs of components, {@link
 * io.sagitta.shard.distance.SubspaceQuantizer}, and scanned 32 at once, {@link
 * io.sagitta.shard.distance.ScanTable}.
 *
 * <p>Memory: rows are read through one segment that spans the address space, because the bounds and
 * liveness checks of ordinary segments cost half the kernel's time at 100 dimensions. {@link
 * io.sagitta.shard.distance.VectorRows} checks bounds once when it is made; the caller keeps the
 * memory alive (a lease on the view) while it scores.
 */
package io.sagitta.shard.distance;
