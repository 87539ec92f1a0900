// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.FilterText;
import io.sagitta.model.RowBatch;
import io.sagitta.model.ShardId;
import io.sagitta.model.SlotRange;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.shard.Candidates;
import io.sagitta.shard.ShardInit;
import java.util.List;
import java.util.Optional;

/** A log entry as decoded. Batches in it borrow the entry's bytes. */
public sealed interface LogEntry {
  Header header();

  /**
   * What every entry says.
   *
   * @param shard the shard it is for
   * @param mapEpoch epoch of the shard map the sender routed by
   * @param schemaVersion schema version the sender encoded or parsed by
   * @param key what makes it take effect once, where asked for
   * @param timeMs the leader's clock when it was proposed
   * @param principal who asked
   */
  record Header(
      ShardId shard,
      long mapEpoch,
      int schemaVersion,
      Optional<WriteKey> key,
      long timeMs,
      String principal) {}

  /** Starts the shard. */
  record Init(Header header, ShardInit init) implements LogEntry {}

  /** Upsert, insert or update of rows. */
  record Put(Header header, WriteMode mode, RowBatch rows) implements LogEntry {}

  /** Delete of the ids in a batch, which may hold conditions. */
  record Delete(Header header, RowBatch rows) implements LogEntry {}

  /** Delete of the rows a filter matches. */
  record DeleteWhere(Header header, FilterText filter, Candidates candidates) implements LogEntry {}

  /** Set and unset of payload of the rows a filter matches. */
  record SetWhere(
      Header header,
      FilterText filter,
      Candidates candidates,
      Optional<RowBatch> values,
      List<Integer> unset)
      implements LogEntry {}

  /** A new schema. */
  record SchemaChange(Header header, CollectionSchema schema) implements LogEntry {}

  /** The slots the shard owns from here on. Not offered at this feature level. */
  record SlotChange(Header header, SlotRange slots, long epoch) implements LogEntry {}

  /** Freezes the growing segment. */
  record Freeze(Header header) implements LogEntry {}
}
