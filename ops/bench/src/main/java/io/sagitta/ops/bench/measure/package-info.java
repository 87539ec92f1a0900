// SPDX-License-Identifier: Apache-2.0

/**
 * {@code sagitta bench}: what a cluster of processes on this machine does in a second, and how long
 * it takes to come back. Each lane checks its answers: a figure of a wrong answer is worth nothing.
 * Start with {@link io.sagitta.ops.bench.measure.IngestCommand}.
 */
package io.sagitta.ops.bench.measure;
