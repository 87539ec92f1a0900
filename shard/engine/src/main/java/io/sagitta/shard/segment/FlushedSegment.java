// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PointId;
import io.sagitta.model.VectorField;
import io.sagitta.shard.distance.VectorRows;
import io.sagitta.shard.format.MappedSegment;
import io.sagitta.shard.format.MappedVectors;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.FieldVector;

/** A complete segment in mapped files. Rows only die from here on. */
public final class FlushedSegment implements Segment, Leases.Closing {
  private final long number;
  private final MappedSegment mapped;
  private final Lives lives;
  private final List<MappedRun> runs;
  private final long bytes;
  private final Leases.Closing unmapped;

  /**
   * Wraps mapped files, which it owns from here on.
   *
   * @param lives who is alive: those of the frozen segment, or as read from a checkpoint
   * @param unmapped called once the files are not mapped any more
   */
  public FlushedSegment(long number, MappedSegment mapped, Lives lives, Leases.Closing unmapped) {
    this.number = number;
    this.mapped = mapped;
    this.lives = lives;
    this.runs = mapped.chunks().stream().map(chunk -> new MappedRun(mapped, chunk)).toList();
    this.unmapped = unmapped;
    this.bytes = mapped.files().stream().mapToLong(file -> file.length()).sum();
  }

  /** The files themselves. */
  public MappedSegment mapped() {
    return mapped;
  }

  @Override
  public long number() {
    return number;
  }

  @Override
  public CollectionSchema schema() {
    return mapped.schema();
  }

  @Override
  public int rows() {
    return mapped.rows();
  }

  @Override
  public long version(int row) {
    return mapped.version(row);
  }

  @Override
  public Lives lives() {
    return lives;
  }

  @Override
  public List<? extends RowRun> runs() {
    return runs;
  }

  @Override
  public int find(IdColumn ids, int row, long hash) {
    byte[] id = new byte[PointId.UTF8_BYTES_MAX];
    return mapped.find(hash, id, ids.canonical(row, id));
  }

  @Override
  public long bytes() {
    return bytes;
  }

  /** Unmaps the files; lives are closed on their own. */
  @Override
  public void close() {
    mapped.close();
    unmapped.close();
  }

  private static final class MappedRun implements RowRun {
    private final RowChunk chunk;
    private final IdColumn ids;
    private final Map<Integer, FieldVector> payload = new HashMap<>();
    private final Map<Integer, VectorRows> vectors = new HashMap<>();
    private final Map<Integer, MappedVectors> mappedVectors = new HashMap<>();

    MappedRun(MappedSegment mapped, RowChunk chunk) {
      this.chunk = chunk;
      this.ids = IdColumn.of(mapped.schema().idType(), chunk.ids());
      for (Field field : mapped.schema().fields()) {
        switch (field) {
          case VectorField vector -> add(vector.fieldId(), mapped.vectors(vector));
          case PayloadField value -> payload.put(value.fieldId(), chunk.column(value.fieldId()));
        }
      }
    }

    private void add(int fieldId, MappedVectors all) {
      int stride = all.strideBytes();
      VectorRows rows =
          VectorRows.of(
              all.field().type(),
              all.field().dimension(),
              chunk.rows(),
              all.data(),
              (long) chunk.firstOrdinal() * stride,
              stride);
      if (all.inverseNorms().byteSize() > 0) {
        rows =
            rows.withInverseNorms(
                all.inverseNorms()
                    .asSlice(
                        (long) chunk.firstOrdinal() * Float.BYTES,
                        (long) chunk.rows() * Float.BYTES));
      }
      vectors.put(fieldId, rows);
      mappedVectors.put(fieldId, all);
    }

    @Override
    public int start() {
      return chunk.firstOrdinal();
    }

    @Override
    public int rows() {
      return chunk.rows();
    }

    @Override
    public IdColumn ids() {
      return ids;
    }

    @Override
    public RowChunk columns() {
      return chunk;
    }

    @Override
    public FieldVector column(int fieldId) {
      return payload.get(fieldId);
    }

    @Override
    public VectorRows vectors(int fieldId) {
      return vectors.get(fieldId);
    }

    @Override
    public boolean hasVector(int fieldId, int row) {
      return !mappedVectors.get(fieldId).isNull(chunk.firstOrdinal() + row);
    }

    @Override
    public boolean allHaveVectors(int fieldId) {
      return !mappedVectors.get(fieldId).hasNulls();
    }
  }
}
