// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * A column of vectors. Accepted are lists of any of Arrow's three kinds whose lengths all equal the
 * dimension, with items as {@link Components} says; for binary vectors also packed bytes. A column
 * that is laid out as the canonical one is looked at in place and borrowed: one pass, no copy.
 */
final class VectorColumn implements ColumnReader {
  /** Bytes a converted column may take: four times a batch, as int8 items are to float32 ones. */
  static final long CONVERTED_BYTES_MAX = 4L * RowNormaliser.BATCH_BYTES_MAX;

  private final VectorField field;
  private final Field canonical;
  private final boolean borrowable;
  private final boolean packed;
  private final Components components;

  private VectorColumn(
      VectorField field,
      Field canonical,
      boolean borrowable,
      boolean packed,
      Components components) {
    this.field = field;
    this.canonical = canonical;
    this.borrowable = borrowable;
    this.packed = packed;
    this.components = components;
  }

  /** Compiles the reader of a vector column whose values are of the field {@code sent}. */
  static VectorColumn of(VectorField field, Field sent) {
    Field canonical = ArrowSchemas.field(field);
    ArrowType type = SentColumn.storage(sent.getType());
    if (type instanceof ArrowType.Null) {
      return new VectorColumn(field, canonical, false, false, null);
    }
    if (field.type() == VectorType.BINARY && type instanceof ArrowType.FixedSizeBinary bytes) {
      checkDimension(field, "bytes", bytes.getByteWidth(), field.vectorBytes());
      return new VectorColumn(field, canonical, true, true, null);
    }
    boolean list =
        type instanceof ArrowType.FixedSizeList
            || type instanceof ArrowType.List
            || type instanceof ArrowType.LargeList;
    Field item = list ? sent.getChildren().getFirst() : null;
    Components components =
        item == null || item.getDictionary() != null
            ? null
            : Components.find(field.type(), SentColumn.storage(item.getType())).orElse(null);
    if (components == null) {
      throw Refusal.column(
          field.name(),
          "type %s is not accepted, expected lists of %d %s"
              .formatted(
                  item == null ? type : type + " of " + item.getType(),
                  field.dimension(),
                  field.type().name().toLowerCase(Locale.ROOT)));
    }
    if (type instanceof ArrowType.FixedSizeList fixed) {
      checkDimension(field, "dimension", fixed.getListSize(), field.dimension());
    }
    boolean borrowable = type instanceof ArrowType.FixedSizeList && components.sameBytes();
    return new VectorColumn(field, canonical, borrowable, false, components);
  }

  private static void checkDimension(VectorField field, String what, int got, int expected) {
    if (got != expected) {
      throw Refusal.column(field.name(), "has %s %d, expected %d".formatted(what, got, expected));
    }
  }

  @Override
  public int column() {
    return field.fieldId();
  }

  @Override
  public ReadColumn read(SentColumn sent, BufferAllocator allocator) {
    if (!field.nullable()) {
      for (int row = 0; row < sent.rows(); row++) {
        if (sent.isNull(row)) {
          throw Refusal.row(row, field.name(), "is null, expected a vector");
        }
      }
    }
    if (borrowable && sent.isPlain()) {
      if (!packed) {
        checkItems(sent, Lists.of(sent.values()));
      }
      check(sent, dataOf(sent.values()));
      return ReadColumn.borrowed(sent.values());
    }
    FieldVector out = canonical.createVector(allocator);
    try {
      convert(sent, out);
      return ReadColumn.made(out);
    } catch (Throwable e) {
      out.close();
      throw e;
    }
  }

  private void convert(SentColumn sent, FieldVector out) {
    long bytes = (long) sent.rows() * field.vectorBytes();
    if (bytes > CONVERTED_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "column %s takes %d bytes as %d vectors of %d, expected at most %d; send fewer rows"
              .formatted(
                  Names.quote(field.name()),
                  bytes,
                  sent.rows(),
                  field.dimension(),
                  CONVERTED_BYTES_MAX));
    }
    allocate(out, sent.rows());
    MemorySegment to = dataOf(out);
    to.fill((byte) 0);
    if (!(sent.values() instanceof NullVector)) {
      if (packed) {
        copyPacked(sent, (FixedSizeBinaryVector) sent.values(), to);
      } else {
        copyLists(sent, Lists.of(sent.values()), to);
      }
    }
    for (int row = 0; row < sent.rows(); row++) {
      if (!sent.isNull(row)) {
        setPresent(out, row);
      }
    }
    out.setValueCount(sent.rows());
    check(sent, to);
  }

  private void copyPacked(SentColumn sent, FixedSizeBinaryVector values, MemorySegment to) {
    MemorySegment from = Memory.of(values.getDataBuffer());
    int bytes = field.vectorBytes();
    for (int row = 0; row < sent.rows(); row++) {
      if (!sent.isNull(row)) {
        MemorySegment.copy(from, (long) sent.place(row) * bytes, to, (long) row * bytes, bytes);
      }
    }
  }

  private void copyLists(SentColumn sent, Lists lists, MemorySegment to) {
    checkItems(sent, lists);
    long bytes = field.vectorBytes();
    for (int row = 0; row < sent.rows(); row++) {
      if (sent.isNull(row)) {
        continue;
      }
      try {
        components.copy(
            lists.items(), lists.start(sent.place(row)), field.dimension(), to, row * bytes);
      } catch (BadValueException e) {
        throw Refusal.row(row, field.name(), e.getMessage());
      }
    }
  }

  /** Every list has the right length and no null in it. */
  private void checkItems(SentColumn sent, Lists lists) {
    boolean nulls = lists.items().getNullCount() > 0;
    if (lists instanceof Lists.Fixed && !nulls) {
      return;
    }
    for (int row = 0; row < sent.rows(); row++) {
      if (sent.isNull(row)) {
        continue;
      }
      int place = sent.place(row);
      if (lists.length(place) != field.dimension()) {
        throw Refusal.row(
            row,
            field.name(),
            "has dimension %d, expected %d".formatted(lists.length(place), field.dimension()));
      }
      for (int i = 0; nulls && i < field.dimension(); i++) {
        if (lists.items().isNull((int) (lists.start(place) + i))) {
          throw Refusal.row(row, field.name(), "component " + i + " is null, expected a number");
        }
      }
    }
  }

  /** Every vector is finite, and not zero where its direction is what is compared. */
  private void check(SentColumn sent, MemorySegment data) {
    VectorCheck check = VectorCheck.of(field);
    if (check == null) {
      return;
    }
    long bytes = field.vectorBytes();
    boolean nulls = sent.values().getNullCount() > 0 || !sent.isPlain();
    for (int row = 0; row < sent.rows(); row++) {
      if (nulls && sent.isNull(row)) {
        continue;
      }
      try {
        check.check(data, row * bytes);
      } catch (BadValueException e) {
        throw Refusal.row(row, field.name(), e.getMessage());
      }
    }
  }

  private void allocate(FieldVector out, int rows) {
    out.setInitialCapacity(rows);
    out.allocateNew();
    if (out instanceof FixedSizeListVector list) {
      BaseFixedWidthVector items = (BaseFixedWidthVector) list.getDataVector();
      items.allocateNew(Math.max(1, rows * field.dimension()));
    }
  }

  private static void setPresent(FieldVector out, int row) {
    switch (out) {
      case FixedSizeListVector list -> list.setNotNull(row);
      case FixedSizeBinaryVector binary -> binary.setIndexDefined(row);
      default -> throw new IllegalArgumentException("no vector: " + out.getField());
    }
  }

  private static MemorySegment dataOf(FieldVector vectors) {
    return vectors instanceof FixedSizeListVector list
        ? Memory.of(list.getDataVector().getDataBuffer())
        : Memory.of(vectors.getDataBuffer());
  }
}
