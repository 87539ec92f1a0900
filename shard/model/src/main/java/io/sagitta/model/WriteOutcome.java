// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.List;

/** What a shard's apply did with an entry: the same on every replica and on replay. */
public sealed interface WriteOutcome {

  /**
   * The entry took effect, now or, where {@code replayed}, at its first arrival.
   *
   * @param index log index at which it took effect
   * @param rows rows applied (created, replaced, changed or removed)
   * @param rejects rows not applied, each with its reason
   * @param replayed whether this entry changed nothing because its key had been applied before
   */
  record Applied(long index, int rows, List<RowReject> rejects, boolean replayed)
      implements WriteOutcome {
    public Applied {
      rejects = List.copyOf(rejects);
    }
  }

  /**
   * The sender's shard map or slots are not the shard's; refresh and route again. Nothing applied.
   */
  record StaleShardMap(long shardEpoch) implements WriteOutcome {}

  /** The sender's schema is not the shard's; refresh and encode again. Nothing applied. */
  record StaleSchema(int shardSchemaVersion) implements WriteOutcome {}

  /** The writer or sequence may have been forgotten. Nothing applied now, perhaps earlier. */
  record SessionExpired(long horizonMs) implements WriteOutcome {}

  /** The entry is wrong for this shard in a way only apply could see. Nothing applied. */
  record Refused(ErrorCode code, String message) implements WriteOutcome {}

  /**
   * A row that was not applied.
   *
   * @param row place in the entry's batch, from 0
   * @param code ALREADY_EXISTS, NOT_FOUND, CONFLICT or INVALID_ARGUMENT
   * @param message why
   */
  record RowReject(int row, ErrorCode code, String message) {}
}
