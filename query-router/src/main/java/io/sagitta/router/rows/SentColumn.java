// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * One column of a batch as a logical column: rows to places in a vector of values, whether the
 * column was sent plain or as indices into a dictionary. Extension types show as what they are
 * stored as.
 */
final class SentColumn {
  private final String name;
  private final FieldVector values;
  private final BaseIntVector indices;
  private final int rows;

  private SentColumn(String name, FieldVector values, BaseIntVector indices, int rows) {
    this.name = name;
    this.values = values;
    this.indices = indices;
    this.rows = rows;
  }

  /** The column, its buffers and indices checked. */
  static SentColumn of(FieldVector vector, int rows, DictionaryProvider dictionaries) {
    String name = vector.getName();
    SentStructure.check(name, vector, rows);
    DictionaryEncoding encoding = vector.getField().getDictionary();
    if (encoding == null) {
      return new SentColumn(name, storage(vector), null, rows);
    }
    FieldVector values = dictionary(name, encoding, dictionaries).getVector();
    SentStructure.check(name, values, values.getValueCount());
    BaseIntVector indices = (BaseIntVector) vector;
    for (int row = 0; row < rows; row++) {
      long index = indices.isNull(row) ? 0 : indices.getValueAsLong(row);
      if (!indices.isNull(row) && (index < 0 || index >= values.getValueCount())) {
        throw Refusal.row(
            row,
            name,
            "index %d is outside of its dictionary of %d values"
                .formatted(index, values.getValueCount()));
      }
    }
    return new SentColumn(name, storage(values), indices, rows);
  }

  /**
   * The field of the values of a column: the dictionary's where there is one. Extension types are
   * left in place; {@link #storage(ArrowType)} looks through them.
   */
  static Field valueField(Field sent, DictionaryProvider dictionaries) {
    if (sent.getDictionary() == null) {
      return sent;
    }
    return dictionary(sent.getName(), sent.getDictionary(), dictionaries).getVector().getField();
  }

  static ArrowType storage(ArrowType type) {
    return type instanceof ArrowType.ExtensionType extension ? extension.storageType() : type;
  }

  String name() {
    return name;
  }

  int rows() {
    return rows;
  }

  /** The values; those of row {@code i} at {@link #place}. */
  FieldVector values() {
    return values;
  }

  /** Whether row i lies at place i, so that the vector may be used as it is. */
  boolean isPlain() {
    return indices == null;
  }

  boolean isNull(int row) {
    if (values instanceof NullVector || (indices != null && indices.isNull(row))) {
      return true;
    }
    return values.isNull(place(row));
  }

  /** Where in {@link #values} a row's value lies; not for rows whose index is null. */
  int place(int row) {
    return indices == null ? row : (int) indices.getValueAsLong(row);
  }

  private static FieldVector storage(FieldVector vector) {
    return vector instanceof ExtensionTypeVector<?> extension
        ? (FieldVector) extension.getUnderlyingVector()
        : vector;
  }

  private static Dictionary dictionary(
      String name, DictionaryEncoding encoding, DictionaryProvider dictionaries) {
    Dictionary dictionary = dictionaries == null ? null : dictionaries.lookup(encoding.getId());
    if (dictionary == null) {
      throw Refusal.column(name, "dictionary " + encoding.getId() + " was not sent");
    }
    return dictionary;
  }
}
