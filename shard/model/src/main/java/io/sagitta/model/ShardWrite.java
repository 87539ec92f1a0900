// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.List;
import java.util.Optional;

/** A write on its way to a shard's leader. */
public sealed interface ShardWrite {
  ShardId shard();

  /** Epoch of the shard map the sender routed by. */
  long mapEpoch();

  /** Version of the schema the sender encoded or parsed by. */
  int schemaVersion();

  /** Absent: the sender gave no writer, and a retry may apply twice. */
  Optional<WriteKey> key();

  /** Who asked, for the log header. */
  String principal();

  /** Rows of one batch that belong to this shard, or a piece of them. */
  record Rows(
      ShardId shard,
      long mapEpoch,
      int schemaVersion,
      Optional<WriteKey> key,
      String principal,
      WriteMode mode,
      RowBatch rows)
      implements ShardWrite {}

  /** Deletes the points a filter matches, as one step. */
  record DeleteWhere(
      ShardId shard,
      long mapEpoch,
      int schemaVersion,
      Optional<WriteKey> key,
      String principal,
      FilterText filter)
      implements ShardWrite {}

  /**
   * Sets and unsets payload of the points a filter matches, as one step.
   *
   * @param values a batch of one row whose columns are the fields to set (no id column)
   * @param unset ids of the fields to make null
   */
  record SetWhere(
      ShardId shard,
      long mapEpoch,
      int schemaVersion,
      Optional<WriteKey> key,
      String principal,
      FilterText filter,
      Optional<RowBatch> values,
      List<Integer> unset)
      implements ShardWrite {}
}
