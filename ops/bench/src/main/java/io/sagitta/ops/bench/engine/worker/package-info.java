// SPDX-License-Identifier: Apache-2.0
/**
 * The other side of {@code sagitta bench engine}: one contender in a JVM of its own, which answers
 * JSON lines. {@link io.sagitta.ops.bench.engine.worker.WorkerMain} says which requests there are;
 * a {@link io.sagitta.ops.bench.engine.worker.Contender} is what it drives. The Python libraries
 * have the same in {@code ops/bench/peers}.
 */
package io.sagitta.ops.bench.engine.worker;
