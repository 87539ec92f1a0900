// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.Names;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.log.LogEntry;
import io.sagitta.shard.segment.Segments;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What one log entry does to a shard. Deterministic: the outcome and the state after it follow from
 * the state before, the log index and the entry alone.
 *
 * <p>A write is judged in this order: has its key been applied before (then that outcome is given
 * back, whatever has changed since), is its shard map stale, its schema, may its writer have been
 * forgotten, and then the rows themselves. Only a write that was applied is remembered.
 */
final class Applier {
  private final Segments segments;
  private final BufferAllocator allocator;
  private final Sessions sessions;
  private ShardMeta meta;
  private long timeMs;
  private long bytesSinceFreeze;
  private int entriesSinceFreeze;
  private boolean froze;

  /** A shard that awaits its Init entry. */
  Applier(Segments segments, BufferAllocator allocator) {
    this(segments, allocator, new Sessions(), null, 0, 0, 0);
  }

  /** A shard as it was checkpointed. */
  Applier(
      Segments segments,
      BufferAllocator allocator,
      Sessions sessions,
      ShardMeta meta,
      long timeMs,
      long bytesSinceFreeze,
      int entriesSinceFreeze) {
    this.segments = segments;
    this.allocator = allocator;
    this.sessions = sessions;
    this.meta = meta;
    this.timeMs = timeMs;
    this.bytesSinceFreeze = bytesSinceFreeze;
    this.entriesSinceFreeze = entriesSinceFreeze;
  }

  /** Null until Init has been applied. */
  ShardMeta meta() {
    return meta;
  }

  Sessions sessions() {
    return sessions;
  }

  /** State time: never goes back, whatever clocks the leaders had. */
  long timeMs() {
    return timeMs;
  }

  long bytesSinceFreeze() {
    return bytesSinceFreeze;
  }

  int entriesSinceFreeze() {
    return entriesSinceFreeze;
  }

  /** Whether the last entry froze what had grown, so that a checkpoint is due. */
  boolean froze() {
    return froze;
  }

  /**
   * Applies an entry; the caller publishes the segments after it.
   *
   * @param entryBytes bytes of the entry in the log
   */
  WriteOutcome apply(LogEntry entry, long index, int entryBytes) {
    froze = false;
    timeMs = Math.max(timeMs, entry.header().timeMs());
    bytesSinceFreeze += entryBytes;
    entriesSinceFreeze++;
    WriteOutcome outcome = outcome(entry, index);
    if (meta != null && !froze && (entry instanceof LogEntry.Freeze || isFreezeDue())) {
      freeze();
    }
    return outcome;
  }

  private WriteOutcome outcome(LogEntry entry, long index) {
    if (entry instanceof LogEntry.Init init) {
      return init(init.init(), index);
    }
    if (meta == null) {
      return new WriteOutcome.Refused(
          ErrorCode.UNAVAILABLE, "the shard is not initialised: its log does not begin with Init");
    }
    if (!entry.header().shard().equals(meta.init().shard())) {
      return new WriteOutcome.Refused(
          ErrorCode.INVALID_ARGUMENT,
          "the entry is for shard " + entry.header().shard() + ", this is " + meta.init().shard());
    }
    return switch (entry) {
      case LogEntry.Init ignored -> throw new AssertionError("handled above");
      case LogEntry.Put put -> write(entry, () -> rows(put.mode(), put.rows(), index));
      case LogEntry.Delete delete ->
          write(entry, () -> rows(WriteMode.DELETE, delete.rows(), index));
      case LogEntry.DeleteWhere where ->
          write(entry, () -> new WhereWriter(segments, meta, allocator).delete(where, index));
      case LogEntry.SetWhere where ->
          write(entry, () -> new WhereWriter(segments, meta, allocator).set(where, index));
      case LogEntry.SchemaChange change -> changeSchema(change, index);
      case LogEntry.SlotChange ignored ->
          new WriteOutcome.Refused(
              ErrorCode.UNIMPLEMENTED, "slots do not change at this feature level");
      case LogEntry.Freeze ignored -> applied(index);
    };
  }

  private WriteOutcome rows(WriteMode mode, RowBatch rows, long index) {
    return new RowWriter(segments, meta, allocator).write(mode, rows, index);
  }

  private static WriteOutcome.Applied applied(long index) {
    return new WriteOutcome.Applied(index, 0, List.of(), false);
  }

  /** The rows of a write, once it has passed all that is asked of any write. */
  private interface Rows {
    WriteOutcome write();
  }

  private WriteOutcome write(LogEntry entry, Rows rows) {
    LogEntry.Header header = entry.header();
    Optional<WriteOutcome.Applied> before = header.key().flatMap(sessions::replay);
    if (before.isPresent()) {
      WriteOutcome.Applied first = before.get();
      return new WriteOutcome.Applied(first.index(), first.rows(), first.rejects(), true);
    }
    if (header.mapEpoch() < meta.epoch()) {
      return new WriteOutcome.StaleShardMap(meta.epoch());
    }
    if (header.schemaVersion() != meta.schema().version()) {
      return new WriteOutcome.StaleSchema(meta.schema().version());
    }
    if (header.key().isPresent() && !sessions.admits(header.key().get())) {
      return new WriteOutcome.SessionExpired(sessions.horizonMs());
    }
    WriteOutcome outcome;
    try {
      outcome = rows.write();
    } catch (SagittaException e) {
      return new WriteOutcome.Refused(e.code(), e.getMessage());
    }
    if (outcome instanceof WriteOutcome.Applied applied) {
      header.key().ifPresent(key -> sessions.remember(key, applied, timeMs));
    }
    return outcome;
  }

  private WriteOutcome init(ShardInit init, long index) {
    if (meta == null) {
      meta = ShardMeta.of(init);
      segments.start(init.schema(), 0);
      return applied(index);
    }
    // Proposed again by a leader that did not see the first: harmless when it says the same.
    return meta.init().equals(init)
        ? applied(index)
        : new WriteOutcome.Refused(
            ErrorCode.ALREADY_EXISTS, "the shard was initialised as " + meta.init());
  }

  private WriteOutcome changeSchema(LogEntry.SchemaChange change, long index) {
    CollectionSchema next = change.schema();
    if (next.equals(meta.schema())) {
      return applied(index);
    }
    try {
      checkSuccessor(next);
    } catch (SagittaException e) {
      return new WriteOutcome.Refused(e.code(), e.getMessage());
    }
    if (segments.growing().rows() > 0) {
      freeze();
    }
    meta = meta.withSchema(next, change.header().mapEpoch());
    segments.changeSchema(next);
    return applied(index);
  }

  /** Fields may come and go; what stays is what it was, and numbers do not return. */
  private void checkSuccessor(CollectionSchema next) {
    CollectionSchema now = meta.schema();
    if (next.version() <= now.version() || next.idType() != now.idType()) {
      throw SagittaException.invalid(
          "schema version %d with %s ids cannot follow version %d with %s ids"
              .formatted(next.version(), next.idType(), now.version(), now.idType()));
    }
    for (Field field : next.fields()) {
      Optional<Field> same = now.field(field.fieldId());
      if (same.isPresent() ? !same.get().equals(field) : field.fieldId() <= meta.fieldIdMax()) {
        throw SagittaException.invalid(
            "field "
                + Names.quote(field.name())
                + " has number "
                + field.fieldId()
                + ", which another field has or had");
      }
      if (same.isEmpty() && field instanceof VectorField && !field.nullable()) {
        throw SagittaException.invalid(
            "field "
                + Names.quote(field.name())
                + " is new: points have no vector there yet, so it"
                + " must be nullable");
      }
    }
  }

  private boolean isFreezeDue() {
    FreezePolicy policy = meta.init().freeze();
    return segments.growing().rows() >= policy.rows()
        || bytesSinceFreeze >= policy.bytes()
        || entriesSinceFreeze >= policy.entries();
  }

  private void freeze() {
    segments.freeze();
    bytesSinceFreeze = 0;
    entriesSinceFreeze = 0;
    froze = true;
  }
}
