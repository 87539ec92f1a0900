// SPDX-License-Identifier: Apache-2.0

/**
 * Raft hosts on Apache Ratis 3.3.0, and the only place that imports it. Ratis is used as a library
 * to be fenced in: entries are proposed in process and answered by what happened to them,
 * checkpoints and installs are the replicated state's, reads never go through it, votes and folders
 * are made durable around it, and each group starts, fails and is removed by itself.
 *
 * <p>Start at {@link io.sagitta.raft.ratis.RatisRaftHost}; then {@code GroupStateMachine} for
 * apply, checkpoint and install, {@code ReadBarrier} for strong reads, {@code PeerGate} for what
 * must be durable before an answer leaves, {@code LogInspection} for what a group must show before
 * it may start.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>"Not appended" is said only of an entry that never reached the log's lock.
 *   <li>No answer that grants a vote, raises a term or acknowledges an entry leaves before it would
 *       survive a power cut.
 *   <li>The log is never purged beyond a checkpoint that is durable here.
 *   <li>A group whose folder, log or state does not show what it has acknowledged does not vote.
 *   <li>Code of callers never runs on a thread of Ratis.
 * </ul>
 */
package io.sagitta.raft.ratis;
