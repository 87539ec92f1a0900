// SPDX-License-Identifier: Apache-2.0

/**
 * Nodes as processes of their own, and what can befall them: kill -9, a pause, a network that drops
 * everything, a power cut.
 *
 * <p>{@link io.sagitta.ops.bench.process.ClusterProcesses} starts nodes with generated
 * configurations, waits until they are ready and takes them away again; {@link
 * io.sagitta.ops.bench.process.PeerNetwork} stands between them; {@link
 * io.sagitta.ops.bench.process.PowerCutDevice} is a disk that forgets what was not flushed.
 *
 * <p>Invariants: no process, mount or loop device outlives the process that made it, however it
 * ends short of kill -9, unless it was told to keep them; what nodes printed stays where a failing
 * run can be read. Start with {@code ClusterProcesses}.
 */
package io.sagitta.ops.bench.process;
