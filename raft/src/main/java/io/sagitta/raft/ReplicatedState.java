// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A state machine replicated by one Raft group. All methods but {@link #checkpointed} and {@link
 * #holds} are called by one thread at a time (the group's apply thread, or its owner before start
 * and during an install).
 *
 * <p>The Raft log is the only write-ahead log. A checkpoint is a set of immutable, fsynced files
 * that holds the state at exactly one log position; once {@link #checkpointed} reports it, the log
 * before it may be purged. A replica that lacks purged entries is brought up by install: its host
 * first fetches the checkpoint's files ({@link CheckpointTransfer#prefetch}), and only when they
 * are verified and fsynced is the small manifest announced through Raft ({@link #install}).
 */
public interface ReplicatedState extends AutoCloseable {

  /**
   * Position of the state as recovered from the newest valid checkpoint; replay starts after it.
   */
  LogPosition recovered();

  /**
   * Applies a committed entry. Called in log order without gaps other than Raft's own entries.
   *
   * @return the outcome for the submitter, also when it is a refusal
   * @throws IOException when this replica cannot go on (a broken disk, a bug); the division stops
   *     and the first cause is kept
   */
  byte[] apply(LogPosition at, ByteBuffer entry) throws IOException;

  /** The newest checkpoint that is durable on this replica's disk. */
  Optional<Checkpoint> checkpointed();

  /**
   * Asks for a checkpoint at the present position. Returns soon; the work goes on elsewhere and its
   * end shows in {@link #checkpointed}.
   */
  void requestCheckpoint();

  /**
   * Whether every file that the checkpoint names lies here, whole and fsynced, so that {@link
   * #install} cannot fail for want of data. Asked just before the replica gives up the log that the
   * checkpoint replaces. Called by any thread; cheap (lengths, not contents: those were checked by
   * the prefetch).
   */
  boolean holds(Checkpoint checkpoint) throws IOException;

  /**
   * Replaces the state by an installed checkpoint whose files have been prefetched. Durable on
   * return.
   */
  void install(Checkpoint checkpoint) throws IOException;

  @Override
  void close() throws IOException;

  /**
   * A durable checkpoint.
   *
   * @param position the position it holds
   * @param manifest the small self-describing manifest that names and checksums every other file
   */
  record Checkpoint(LogPosition position, byte[] manifest) {}
}
