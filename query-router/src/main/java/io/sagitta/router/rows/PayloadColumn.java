// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * A column of payload values or of lists of them. Types that lie in memory as canonical ones do are
 * borrowed, their values checked where not every bit pattern is a value; others are copied value by
 * value ({@link ValueCopy}).
 */
final class PayloadColumn implements ColumnReader {
  private final int column;
  private final Field canonical;
  private final boolean list;
  private final boolean borrowable;
  private final ValueCopy copy;
  private final Optional<ValueCheck> check;

  private PayloadColumn(
      int column,
      Field canonical,
      boolean list,
      boolean borrowable,
      ValueCopy copy,
      Optional<ValueCheck> check) {
    this.column = column;
    this.canonical = canonical;
    this.list = list;
    this.borrowable = borrowable;
    this.copy = copy;
    this.check = check;
  }

  /**
   * Compiles the reader of a column.
   *
   * @param column field id of the canonical column
   * @param canonical its Arrow field
   * @param sent field of the values sent
   * @throws SagittaException INVALID_ARGUMENT naming column and type when it is not accepted
   */
  static PayloadColumn of(int column, PayloadType type, Field canonical, Field sent) {
    ArrowType sentType = SentColumn.storage(sent.getType());
    boolean lists = type.list() && !(sentType instanceof ArrowType.Null);
    if (lists && (!isList(sentType) || sent.getChildren().getFirst().getDictionary() != null)) {
      throw notAccepted(canonical.getName(), type, sent);
    }
    ValueCopy copy =
        ValueCopies.find(type.kind(), lists ? sent.getChildren().getFirst() : sent)
            .orElseThrow(() -> notAccepted(canonical.getName(), type, sent));
    return new PayloadColumn(
        column,
        canonical,
        type.list(),
        sameLayout(sent, canonical),
        copy,
        ValueCheck.of(type.kind()));
  }

  @Override
  public int column() {
    return column;
  }

  @Override
  public ReadColumn read(SentColumn sent, BufferAllocator allocator) {
    if (borrowable && sent.isPlain()) {
      checkAll(sent.values(), sent.rows());
      return ReadColumn.borrowed(sent.values());
    }
    FieldVector out = canonical.createVector(allocator);
    try {
      out.setInitialCapacity(sent.rows());
      out.allocateNew();
      if (list) {
        copyLists(sent, (ListVector) out);
      } else {
        copyValues(sent, out);
      }
      out.setValueCount(sent.rows());
      return ReadColumn.made(out);
    } catch (Throwable e) {
      out.close();
      throw e;
    }
  }

  private void checkAll(FieldVector vector, int rows) {
    if (check.isEmpty()) {
      return;
    }
    if (!list) {
      for (int row = 0; row < rows; row++) {
        if (!vector.isNull(row)) {
          checkValue(row, vector, row);
        }
      }
      return;
    }
    ListVector lists = (ListVector) vector;
    FieldVector items = lists.getDataVector();
    for (int row = 0; row < rows; row++) {
      int end = lists.isNull(row) ? 0 : lists.getElementEndIndex(row);
      for (int i = lists.getElementStartIndex(row); i < end; i++) {
        if (!items.isNull(i)) {
          checkValue(row, items, i);
        }
      }
    }
  }

  private void copyValues(SentColumn sent, FieldVector out) {
    for (int row = 0; row < sent.rows(); row++) {
      if (!sent.isNull(row)) {
        copyValue(row, sent.values(), sent.place(row), out, row);
      }
    }
  }

  private void copyLists(SentColumn sent, ListVector out) {
    if (sent.values() instanceof NullVector) {
      return;
    }
    Lists lists = Lists.of(sent.values());
    FieldVector items = out.getDataVector();
    int end = 0;
    for (int row = 0; row < sent.rows(); row++) {
      if (sent.isNull(row)) {
        continue;
      }
      int place = sent.place(row);
      out.startNewValue(row);
      long start = lists.start(place);
      int length = lists.length(place);
      for (int i = 0; i < length; i++) {
        if (!lists.items().isNull((int) (start + i))) {
          copyValue(row, lists.items(), (int) (start + i), items, end + i);
        }
      }
      end += length;
      items.setValueCount(end);
      out.endValue(row, length);
    }
  }

  private void copyValue(int row, FieldVector from, int place, FieldVector to, int at) {
    try {
      copy.copy(from, place, to, at);
      if (check.isPresent()) {
        check.get().check(to, at);
      }
    } catch (BadValueException e) {
      throw Refusal.row(row, canonical.getName(), e.getMessage());
    }
  }

  private void checkValue(int row, FieldVector vector, int at) {
    try {
      check.orElseThrow().check(vector, at);
    } catch (BadValueException e) {
      throw Refusal.row(row, canonical.getName(), e.getMessage());
    }
  }

  private static boolean isList(ArrowType type) {
    return type instanceof ArrowType.List
        || type instanceof ArrowType.LargeList
        || type instanceof ArrowType.FixedSizeList;
  }

  /** Whether a vector of the type sent is, byte for byte, one of the canonical type. */
  static boolean sameLayout(Field sent, Field canonical) {
    ArrowType type = SentColumn.storage(sent.getType());
    boolean same =
        canonical.getType() instanceof ArrowType.Timestamp wanted
            ? type instanceof ArrowType.Timestamp given && given.getUnit() == wanted.getUnit()
            : type.equals(canonical.getType());
    List<Field> children = canonical.getChildren();
    if (!same || sent.getChildren().size() != children.size()) {
      return false;
    }
    boolean struct = type instanceof ArrowType.Struct;
    for (int i = 0; i < children.size(); i++) {
      Field child = sent.getChildren().get(i);
      if (child.getDictionary() != null
          || child.getType() instanceof ArrowType.ExtensionType
          || (struct && !child.getName().equals(children.get(i).getName()))
          || !sameLayout(child, children.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static SagittaException notAccepted(String name, PayloadType type, Field sent) {
    return Refusal.column(
        name,
        "type " + sent.getType() + childTypes(sent) + " is not accepted, expected " + type.text());
  }

  private static String childTypes(Field sent) {
    return sent.getChildren().isEmpty()
        ? ""
        : " of " + sent.getChildren().stream().map(Field::getType).toList();
  }
}
