// SPDX-License-Identifier: Apache-2.0

/**
 * What the kernels cost. {@link io.sagitta.shard.bench.KernelTable} runs the benchmarks, each in a
 * JVM of its own with the kernels named, and prints nanoseconds a row and bytes a second:
 *
 * <pre>
 * ./mvnw -q -Dfast -pl shard/bench -am install dependency:build-classpath -Dmdep.outputFile=/tmp/cp
 * java --add-modules=jdk.incubator.vector -cp shard/bench/target/classes:$(cat /tmp/cp) \
 *     io.sagitta.shard.bench.KernelTable
 * </pre>
 *
 * <p>Every benchmark checks its scores against a plain loop in double before it is timed.
 */
package io.sagitta.shard.bench;
