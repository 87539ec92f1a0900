// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.SlotRange;
import java.util.List;
import java.util.Optional;

/**
 * A shard at one instant, for status, describe and routing.
 *
 * @param init what the shard was created as; empty until its Init entry is applied
 * @param epoch shard-map epoch at which its slots last changed
 * @param slots the slots it owns now
 * @param schema the schema now
 * @param term term of the last applied entry
 * @param index log index of the last applied entry, -1 for none
 * @param timeMs state time, milliseconds since the epoch
 * @param horizonMs latest activity of any writer that was ever forgotten
 * @param writers writers remembered
 * @param rows live rows
 * @param growingBytes bytes of memory held by rows that are not in files yet
 * @param segments oldest first, the growing segment last
 * @param checkpointIndex log index of the newest durable checkpoint, -1 for none
 * @param checkpointing whether a flush or checkpoint is running or waiting
 * @param flushFailure why the last flush or checkpoint failed; empty after one that succeeded
 * @param applyWaits how often apply has had to wait for a flush
 */
public record ShardState(
    Optional<ShardInit> init,
    long epoch,
    SlotRange slots,
    CollectionSchema schema,
    long term,
    long index,
    long timeMs,
    long horizonMs,
    int writers,
    long rows,
    long growingBytes,
    List<SegmentInfo> segments,
    long checkpointIndex,
    boolean checkpointing,
    Optional<String> flushFailure,
    long applyWaits) {
  public ShardState {
    segments = List.copyOf(segments);
  }

  public boolean initialised() {
    return init.isPresent();
  }

  /**
   * One segment.
   *
   * @param name its name, the same on every replica
   * @param stage growing, frozen or flushed
   * @param rows rows stored, dead ones included
   * @param liveRows rows alive
   * @param bytes bytes in memory (growing, frozen) or in files (flushed)
   */
  public record SegmentInfo(String name, Stage stage, int rows, int liveRows, long bytes) {}

  /** How far a segment has come. */
  public enum Stage {
    GROWING,
    FROZEN,
    FLUSHED
  }
}
