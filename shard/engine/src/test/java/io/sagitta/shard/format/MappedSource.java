// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.VectorField;
import io.sagitta.shard.segment.RowChunk;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/** A segment read from files, to be written again. */
final class MappedSource implements SegmentSource, AutoCloseable {
  private final MappedSegment segment;
  private final List<RowChunk> chunks = new ArrayList<>();
  private final List<FieldVector> copies = new ArrayList<>();

  MappedSource(MappedSegment segment, BufferAllocator allocator) {
    this.segment = segment;
    for (RowChunk chunk : segment.chunks()) {
      List<FieldVector> columns = new ArrayList<>(chunk.columns().getFieldVectors());
      for (VectorField field : segment.schema().vectorFields()) {
        FieldVector copy = copy(field, segment.vectors(field), chunk, allocator);
        copies.add(copy);
        columns.add(copy);
      }
      chunks.add(new RowChunk(chunk.firstOrdinal(), new VectorSchemaRoot(columns)));
    }
  }

  private static FieldVector copy(
      VectorField field, MappedVectors vectors, RowChunk chunk, BufferAllocator allocator) {
    FieldVector column = ArrowSchemas.field(field).createVector(allocator);
    column.setInitialCapacity(chunk.rows());
    column.allocateNew();
    BaseFixedWidthVector items =
        column instanceof FixedSizeListVector list
            ? (BaseFixedWidthVector) list.getDataVector()
            : (BaseFixedWidthVector) column;
    int width = field.vectorBytes() / items.getTypeWidth();
    for (int row = 0; row < chunk.rows(); row++) {
      int ordinal = chunk.firstOrdinal() + row;
      byte[] bytes =
          vectors
              .data()
              .asSlice((long) ordinal * vectors.strideBytes(), field.vectorBytes())
              .toArray(ValueLayout.JAVA_BYTE);
      items.getDataBuffer().setBytes((long) row * bytes.length, bytes);
      for (int i = 0; i < width; i++) {
        BitVectorHelper.setBit(items.getValidityBuffer(), (long) row * width + i);
      }
      BitVectorHelper.setValidityBit(
          column.getValidityBuffer(), row, vectors.isNull(ordinal) ? 0 : 1);
    }
    column.setValueCount(chunk.rows());
    return column;
  }

  @Override
  public UUID segmentId() {
    return segment.segmentId();
  }

  @Override
  public CollectionSchema schema() {
    return segment.schema();
  }

  @Override
  public int rows() {
    return segment.rows();
  }

  @Override
  public List<RowChunk> chunks() {
    return chunks;
  }

  @Override
  public long version(int ordinal) {
    return segment.version(ordinal);
  }

  @Override
  public float inverseNorm(int fieldId, int ordinal) {
    VectorField field = (VectorField) segment.schema().field(fieldId).orElseThrow();
    return segment.vectors(field).inverseNorms().getAtIndex(ValueLayout.JAVA_FLOAT, ordinal);
  }

  @Override
  public void close() {
    copies.forEach(FieldVector::close);
  }
}
