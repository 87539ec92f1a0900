// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Metric;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.VectorField;
import io.sagitta.shard.distance.InverseNorms;
import io.sagitta.shard.distance.VectorRows;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/**
 * Neighbouring rows of a segment in memory, as they were applied: an immutable Arrow root of the id
 * column and every field of the segment's schema, and the inverse norms of its cosine fields.
 */
public final class Chunk implements RowRun, Leases.Closing {
  private final CollectionSchema schema;
  private final int start;
  private final VectorSchemaRoot root;
  private final RowChunk columns;
  private final IdColumn ids;
  private final Map<Integer, VectorRows> vectors = new HashMap<>();
  private final List<ArrowBuf> norms = new ArrayList<>();
  private final long bytes;

  private Chunk(CollectionSchema schema, int start, VectorSchemaRoot root) {
    this.schema = schema;
    this.start = start;
    this.root = root;
    this.columns = new RowChunk(start, root);
    this.ids = IdColumn.of(schema.idType(), root.getVector(0));
    this.bytes = root.getFieldVectors().stream().mapToLong(FieldVector::getBufferSize).sum();
  }

  /**
   * A chunk of freshly applied rows.
   *
   * @param start ordinal of its first row
   * @param root the id column, then every field of the schema in order; owned by the chunk from
   *     here on, also when this fails
   */
  public static Chunk of(
      CollectionSchema schema, int start, VectorSchemaRoot root, BufferAllocator allocator) {
    Chunk chunk = new Chunk(schema, start, root);
    try {
      for (int i = 0; i < schema.fields().size(); i++) {
        if (schema.fields().get(i) instanceof VectorField field) {
          VectorRows rows = rows(field, root.getVector(i + 1));
          chunk.vectors.put(
              field.fieldId(),
              field.metric() == Metric.COSINE ? chunk.withNorms(rows, allocator) : rows);
        }
      }
      return chunk;
    } catch (Throwable e) {
      chunk.close();
      throw e;
    }
  }

  /** The rows of neighbouring chunks in one, copied; the chunks stay as they are. */
  static Chunk join(List<Chunk> chunks, BufferAllocator allocator) {
    Chunk first = chunks.getFirst();
    List<RowSelection> parts = chunks.stream().map(chunk -> RowSelection.all(chunk.root)).toList();
    return of(first.schema, first.start, RowBatchCodec.copy(parts, allocator), allocator);
  }

  /** The one of the first {@code count} chunks, in the order of their starts, that holds a row. */
  static Chunk holding(Chunk[] chunks, int count, int row) {
    int low = 0;
    int high = count - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (chunks[middle].start() <= row) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return chunks[low];
  }

  @Override
  public int start() {
    return start;
  }

  @Override
  public int rows() {
    return root.getRowCount();
  }

  @Override
  public IdColumn ids() {
    return ids;
  }

  /** Bytes of the rows' Arrow buffers. */
  public long bytes() {
    return bytes;
  }

  @Override
  public RowChunk columns() {
    return columns;
  }

  @Override
  public FieldVector column(int fieldId) {
    for (int i = 0; i < schema.fields().size(); i++) {
      if (schema.fields().get(i).fieldId() == fieldId) {
        return root.getVector(i + 1);
      }
    }
    return null;
  }

  @Override
  public VectorRows vectors(int fieldId) {
    return vectors.get(fieldId);
  }

  @Override
  public boolean hasVector(int fieldId, int row) {
    return !column(fieldId).isNull(row);
  }

  @Override
  public boolean allHaveVectors(int fieldId) {
    return column(fieldId).getNullCount() == 0;
  }

  private VectorRows withNorms(VectorRows rows, BufferAllocator allocator) {
    ArrowBuf buffer = allocator.buffer((long) rows.count() * Float.BYTES);
    norms.add(buffer);
    MemorySegment out = OffHeap.segment(buffer);
    InverseNorms.fill(rows, 0, rows.count(), out);
    return rows.withInverseNorms(out);
  }

  /** Where the components of a vector column lie. */
  private static VectorRows rows(VectorField field, FieldVector column) {
    ArrowBuf data =
        switch (column) {
          case FixedSizeListVector list -> list.getDataVector().getDataBuffer();
          case FixedSizeBinaryVector bits -> bits.getDataBuffer();
          default ->
              throw new IllegalArgumentException(
                  "the column of field '" + field.name() + "' is not laid out as vectors are");
        };
    return VectorRows.packed(
        field.type(), field.dimension(), column.getValueCount(), OffHeap.segment(data));
  }

  @Override
  public void close() {
    root.close();
    norms.forEach(ArrowBuf::close);
    norms.clear();
  }
}
