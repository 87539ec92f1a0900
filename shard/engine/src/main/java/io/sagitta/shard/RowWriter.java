// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.HashSlot;
import io.sagitta.model.Names;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcome.RowReject;
import io.sagitta.shard.segment.IdColumn;
import io.sagitta.shard.segment.SegmentSet;
import io.sagitta.shard.segment.Segments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Applies one batch of rows: decides for each row whether it takes effect, then lets all that do
 * take effect at once. Of rows with one id only the last counts; a condition is judged before the
 * mode; nothing changes before the whole batch has been looked at.
 */
final class RowWriter {
  private final Segments segments;
  private final ShardMeta meta;
  private final BufferAllocator allocator;

  RowWriter(Segments segments, ShardMeta meta, BufferAllocator allocator) {
    this.segments = segments;
    this.meta = meta;
    this.allocator = allocator;
  }

  /**
   * Applies a batch at a log index.
   *
   * @return Applied, or StaleShardMap where a row's slot is not the shard's
   * @throws SagittaException INVALID_ARGUMENT where the batch is not one the shard can take
   */
  WriteOutcome write(WriteMode mode, RowBatch batch, long index) {
    checkColumns(mode, batch.columns());
    try (VectorSchemaRoot rows = RowBatchCodec.decode(batch, meta.schema(), allocator)) {
      IdColumn ids = IdColumn.of(meta.schema().idType(), rows.getVector(0));
      long[] hashes = ids.hashes();
      for (long hash : hashes) {
        if (!meta.slots().contains(HashSlot.ofHash(hash))) {
          return new WriteOutcome.StaleShardMap(meta.epoch());
        }
      }
      checkVectors(batch.columns(), rows);
      Decision decision = decide(mode, conditions(batch.columns(), rows), ids, hashes);
      if (mode != WriteMode.DELETE && decision.count > 0) {
        append(mode, batch.columns(), rows, hashes, decision, index);
      }
      int changed = endLives(decision, mode, index);
      return new WriteOutcome.Applied(index, changed, decision.rejects, false);
    }
  }

  private void checkColumns(WriteMode mode, List<Integer> columns) {
    if (columns.isEmpty() || columns.getFirst() != RowBatch.COLUMN_ID) {
      throw SagittaException.invalid("the batch has columns " + columns + ", expected id first");
    }
    if (new HashSet<>(columns).size() != columns.size()) {
      throw SagittaException.invalid("the batch has a column twice: " + columns);
    }
    if (mode == WriteMode.DELETE || mode == WriteMode.UPDATE) {
      return;
    }
    for (VectorField field : meta.schema().vectorFields()) {
      if (!field.nullable() && !columns.contains(field.fieldId())) {
        throw SagittaException.invalid(
            "field " + Names.quote(field.name()) + " is not nullable and missing in the batch");
      }
    }
  }

  private void checkVectors(List<Integer> columns, VectorSchemaRoot rows) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i) > 0
          && meta.schema().field(columns.get(i)).orElseThrow() instanceof VectorField field) {
        VectorChecks.check(field, rows.getVector(i));
      }
    }
  }

  private static BigIntVector conditions(List<Integer> columns, VectorSchemaRoot rows) {
    int at = columns.indexOf(RowBatch.COLUMN_IF_VERSION);
    return at < 0 ? null : (BigIntVector) rows.getVector(at);
  }

  /** What becomes of a batch: the rows that take effect, and the live rows they replace. */
  private static final class Decision {
    final int[] rows;
    final long[] replaced;
    final List<RowReject> rejects = new ArrayList<>();
    int count;

    Decision(int rowsMax) {
      rows = new int[rowsMax];
      replaced = new long[rowsMax];
    }

    void accept(int row, long replacedRef) {
      rows[count] = row;
      replaced[count++] = replacedRef;
    }
  }

  private Decision decide(WriteMode mode, BigIntVector conditions, IdColumn ids, long[] hashes) {
    Decision decision = new Decision(ids.rows());
    boolean[] superseded = superseded(ids, hashes);
    for (int row = 0; row < ids.rows(); row++) {
      if (superseded[row]) {
        continue;
      }
      long found = segments.find(ids, row, hashes[row]);
      RowReject reject = null;
      if (conditions != null && !conditions.isNull(row)) {
        reject = checkCondition(conditions.get(row), found, ids, row);
      }
      if (reject == null) {
        reject = checkMode(mode, found, ids, row);
      }
      if (reject == null) {
        decision.accept(row, found);
      } else {
        decision.rejects.add(reject);
      }
    }
    return decision;
  }

  private RowReject checkCondition(long wanted, long found, IdColumn ids, int row) {
    long version = found == SegmentSet.NO_REF ? 0 : segments.version(found);
    if (version == wanted) {
      return null;
    }
    String has = version == 0 ? "does not exist" : "has version " + version;
    String expected = wanted == 0 ? "that it does not exist" : "version " + wanted;
    return new RowReject(
        row, ErrorCode.CONFLICT, quote(ids, row) + " " + has + ", expected " + expected);
  }

  private static RowReject checkMode(WriteMode mode, long found, IdColumn ids, int row) {
    return switch (mode) {
      case UPSERT, DELETE -> null;
      case INSERT ->
          found == SegmentSet.NO_REF
              ? null
              : new RowReject(row, ErrorCode.ALREADY_EXISTS, quote(ids, row) + " exists");
      case UPDATE ->
          found != SegmentSet.NO_REF
              ? null
              : new RowReject(row, ErrorCode.NOT_FOUND, quote(ids, row) + " does not exist");
    };
  }

  private static String quote(IdColumn ids, int row) {
    return "id " + Names.quote(ids.get(row).toString());
  }

  /** Marks every row that a later one of the batch with its id makes void. */
  private static boolean[] superseded(IdColumn ids, long[] hashes) {
    int rows = ids.rows();
    boolean[] superseded = new boolean[rows];
    int mask = Integer.highestOneBit(Math.max(1, rows) * 2 - 1) * 2 - 1;
    int[] table = new int[mask + 1]; // row + 1, 0 for none
    for (int row = rows - 1; row >= 0; row--) {
      int at = (int) hashes[row] & mask;
      while (table[at] != 0) {
        int later = table[at] - 1;
        if (hashes[later] == hashes[row] && ids.same(row, ids, later)) {
          superseded[row] = true;
          break;
        }
        at = (at + 1) & mask;
      }
      if (table[at] == 0) {
        table[at] = row + 1;
      }
    }
    return superseded;
  }

  private int endLives(Decision decision, WriteMode mode, long index) {
    int ended = 0;
    for (int i = 0; i < decision.count; i++) {
      if (decision.replaced[i] != SegmentSet.NO_REF) {
        segments.die(decision.replaced[i], index);
        ended++;
      }
    }
    return mode == WriteMode.DELETE ? ended : decision.count;
  }

  private void append(
      WriteMode mode,
      List<Integer> columns,
      VectorSchemaRoot rows,
      long[] hashes,
      Decision decision,
      long index) {
    boolean all = decision.count == rows.getRowCount();
    long[] accepted = hashes;
    VectorSchemaRoot source = rows;
    if (!all) {
      int[] picked = Arrays.copyOf(decision.rows, decision.count);
      accepted = Arrays.stream(picked).mapToLong(row -> hashes[row]).toArray();
      source = RowBatchCodec.copy(List.of(RowSelection.picked(rows, picked)), allocator);
    }
    try {
      VectorSchemaRoot complete = complete(mode, columns, source, decision);
      segments.append(complete, accepted, meta.version(index));
    } finally {
      if (!all) {
        source.close();
      }
    }
  }

  /** The id column and every field of the schema: as sent, else as stored, else null. */
  private VectorSchemaRoot complete(
      WriteMode mode, List<Integer> columns, VectorSchemaRoot source, Decision decision) {
    List<FieldVector> complete = new ArrayList<>();
    try {
      RowGather stored =
          mode == WriteMode.UPDATE
              ? new RowGather(segments.writersView(0, 0), decision.replaced, decision.count)
              : null;
      complete.add(taken(source.getVector(0)));
      for (Field field : meta.schema().fields()) {
        int at = columns.indexOf(field.fieldId());
        if (at >= 0) {
          complete.add(taken(source.getVector(at)));
        } else if (stored != null) {
          complete.add(stored.column(field, allocator));
        } else {
          complete.add(RowGather.nulls(field, decision.count, allocator));
        }
      }
      return new VectorSchemaRoot(complete);
    } catch (Throwable e) {
      complete.forEach(FieldVector::close);
      throw e;
    }
  }

  /** The column with its memory, which outlives the batch it came in. */
  private FieldVector taken(FieldVector column) {
    // Arrow's own targets forget metadata and the names of children.
    FieldVector target = column.getField().createVector(allocator);
    column.makeTransferPair(target).transfer();
    return target;
  }
}
