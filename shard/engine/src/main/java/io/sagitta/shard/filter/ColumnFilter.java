// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import io.sagitta.model.filter.Column;
import io.sagitta.model.filter.Predicate;
import io.sagitta.model.filter.Predicate.Truth;
import java.util.List;
import java.util.function.BinaryOperator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;

/** Evaluates one predicate. Keeps no state; any thread. */
public final class ColumnFilter {
  private final Predicate predicate;

  public ColumnFilter(Predicate predicate) {
    this.predicate = predicate;
  }

  /**
   * The rows of which the predicate is true: row r is bit {@code r & 63} of word {@code r >> 6}.
   */
  public long[] matching(RowColumns columns) {
    return evaluate(predicate, columns).yes;
  }

  static Truths evaluate(Predicate predicate, RowColumns columns) {
    int rows = columns.rows();
    return switch (predicate) {
      case Predicate.And(var parts) ->
          fold(parts, columns, new Truths(rows).allTrue(), Truths::and);
      case Predicate.Or(var parts) ->
          fold(parts, columns, new Truths(rows).allTrue().negate(), Truths::or);
      case Predicate.Not(var part) -> evaluate(part, columns).negate();
      case Predicate.Constant(var truth) -> constant(truth, rows);
      case Predicate.IsNull(var column) -> isNull(column, columns);
      case Predicate.LongRange(var column, var low, var high) ->
          present(column, columns) instanceof FieldVector v
              ? NumberColumns.range(v, column.type(), low, high, rows)
              : new Truths(rows);
      case Predicate.UnsignedRange(var column, var low, var high) ->
          present(column, columns) instanceof FieldVector v
              ? NumberColumns.unsignedRange(v, low, high, rows)
              : new Truths(rows);
      case Predicate.LongIn(var column, var values) ->
          present(column, columns) instanceof FieldVector v
              ? NumberColumns.in(v, column.type(), values, rows)
              : new Truths(rows);
      case Predicate.DoubleRange(var column, var low, var high) ->
          present(column, columns) instanceof FieldVector v
              ? NumberColumns.range(v, column.type(), low, high, rows)
              : new Truths(rows);
      case Predicate.BoolIs(var column, var value) ->
          present(column, columns) instanceof FieldVector v
              ? NumberColumns.is(v, value, rows)
              : new Truths(rows);
      case Predicate.BytesRange range ->
          present(range.column(), columns) instanceof FieldVector v
              ? ByteColumns.range(ByteColumns.of(v), range, rows)
              : new Truths(rows);
      case Predicate.BytesIn(var column, var values) ->
          present(column, columns) instanceof FieldVector v
              ? ByteColumns.in(ByteColumns.of(v), values, rows)
              : new Truths(rows);
      case Predicate.BytesPrefix(var column, var prefix) ->
          present(column, columns) instanceof FieldVector v
              ? ByteColumns.prefix(ByteColumns.of(v), prefix, rows)
              : new Truths(rows);
      case Predicate.ListAny(var column, var element) ->
          present(column, columns) instanceof ListVector v
              ? listAny(v, element, rows)
              : new Truths(rows);
      case Predicate.ListLength(var column, var low, var high) ->
          present(column, columns) instanceof ListVector v
              ? listLength(v, low, high, rows)
              : new Truths(rows);
      case Predicate.GeoWithin within ->
          present(within.column(), columns) instanceof FieldVector v
              ? GeoColumns.within(v, within, rows)
              : new Truths(rows);
      case Predicate.GeoBox box ->
          present(box.column(), columns) instanceof FieldVector v
              ? GeoColumns.box(v, box, rows)
              : new Truths(rows);
      case Predicate.JsonCompare compare ->
          present(compare.column(), columns) instanceof FieldVector v
              ? JsonColumns.compare(v, compare, rows)
              : new Truths(rows);
      case Predicate.JsonPrefix prefix ->
          present(prefix.column(), columns) instanceof FieldVector v
              ? JsonColumns.prefix(v, prefix, rows)
              : new Truths(rows);
      case Predicate.JsonIsNull isNull ->
          present(isNull.column(), columns) instanceof FieldVector v
              ? JsonColumns.isNull(v, isNull, rows)
              : new Truths(rows).allTrue();
    };
  }

  private static FieldVector present(Column column, RowColumns columns) {
    return columns.column(column.fieldId());
  }

  /**
   * The parts combined.
   *
   * @param none what no parts are
   */
  private static Truths fold(
      List<Predicate> parts, RowColumns columns, Truths none, BinaryOperator<Truths> combine) {
    Truths all = none;
    for (Predicate part : parts) {
      all = combine.apply(all, evaluate(part, columns));
    }
    return all;
  }

  private static Truths constant(Truth truth, int rows) {
    Truths unknown = new Truths(rows);
    return switch (truth) {
      case TRUE -> unknown.allTrue();
      case FALSE -> unknown.allTrue().negate();
      case UNKNOWN -> unknown;
    };
  }

  private static Truths isNull(Column column, RowColumns columns) {
    int rows = columns.rows();
    Truths truths = new Truths(rows);
    if (column.type() == Column.Type.VECTOR) {
      for (int row = 0; row < rows; row++) {
        if (!columns.hasVector(column.fieldId(), row)) {
          truths.yes[row >> 6] |= 1L << row;
        }
      }
      for (int word = 0; word < truths.yes.length; word++) {
        truths.set(word, truths.yes[word], Truths.rowsOf(word, rows));
      }
      return truths;
    }
    FieldVector vector = columns.column(column.fieldId());
    if (vector == null) {
      return truths.allTrue();
    }
    for (int word = 0; word < truths.yes.length; word++) {
      truths.set(word, ~Validity.word(vector, word, rows), Truths.rowsOf(word, rows));
    }
    return truths;
  }

  private static Truths listAny(ListVector list, Predicate element, int rows) {
    FieldVector elements = list.getDataVector();
    int count = rows == 0 ? 0 : list.getElementEndIndex(rows - 1);
    Truths of = evaluate(element, new Elements(elements, count));
    return Truths.of(
        list,
        rows,
        row -> {
          int end = list.getElementEndIndex(row);
          for (int at = list.getElementStartIndex(row); at < end; at++) {
            if (of.yes(at)) {
              return true;
            }
          }
          return false;
        });
  }

  private static Truths listLength(ListVector list, long low, long high, int rows) {
    return Truths.of(
        list,
        rows,
        row -> {
          int length = list.getElementEndIndex(row) - list.getElementStartIndex(row);
          return length >= low && length <= high;
        });
  }

  /** The elements of a list column, seen as rows of one column. */
  private record Elements(FieldVector vector, int rows) implements RowColumns {
    @Override
    public FieldVector column(int fieldId) {
      return vector;
    }

    @Override
    public boolean hasVector(int fieldId, int row) {
      throw new IllegalStateException("lists hold no vectors");
    }
  }
}
