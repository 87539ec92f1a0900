// SPDX-License-Identifier: Apache-2.0
/**
 * {@code sagitta bench engine}: the graph of this engine beside the libraries that others use, on
 * the same data, in the same run, at equal recall.
 *
 * <p>A {@link io.sagitta.ops.bench.engine.Lane} is a {@link io.sagitta.ops.bench.engine.DataSet}
 * and a way to draw queries. Every {@link io.sagitta.ops.bench.engine.Peer} runs in a process of
 * its own (a {@link io.sagitta.ops.bench.engine.Worker}) that answers JSON lines; this side decides
 * what is asked when, computes recall against {@link io.sagitta.ops.bench.engine.Truth} for every
 * answer, and trusts no contender's own word about its hits. A {@link
 * io.sagitta.ops.bench.engine.Sweep} finds the efforts around the recalls wanted and times them;
 * {@link io.sagitta.ops.bench.engine.RecallCurve} reads the figure between them. Start with {@link
 * io.sagitta.ops.bench.engine.EngineCommand}.
 *
 * <p>Vector files hold {@code float32}, little-endian, row after row, without a header.
 */
package io.sagitta.ops.bench.engine;
