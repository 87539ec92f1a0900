// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import io.sagitta.model.filter.Column;
import io.sagitta.model.filter.Longs;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;

/** Numbers, dates, times and booleans. */
final class NumberColumns {
  private NumberColumns() {}

  static Truths range(FieldVector vector, Column.Type type, long low, long high, int rows) {
    Truths truths = new Truths(rows);
    ArrowBuf data = vector.getDataBuffer();
    for (int word = 0; word < truths.yes.length; word++) {
      int start = word << 6;
      int end = Math.min(rows, start + Long.SIZE);
      long hits = 0;
      // The type is the same all along, so that the branch inside read costs next to nothing.
      for (int row = start; row < end; row++) {
        long value = read(data, type, row);
        hits |= (value >= low && value <= high ? 1L : 0L) << row;
      }
      truths.set(word, hits, Validity.word(vector, word, rows));
    }
    return truths;
  }

  static Truths unsignedRange(FieldVector vector, long low, long high, int rows) {
    Truths truths = new Truths(rows);
    ArrowBuf data = vector.getDataBuffer();
    long first = low + Long.MIN_VALUE;
    long last = high + Long.MIN_VALUE;
    for (int word = 0; word < truths.yes.length; word++) {
      int start = word << 6;
      int end = Math.min(rows, start + Long.SIZE);
      long hits = 0;
      for (int row = start; row < end; row++) {
        long value = data.getLong((long) row * Long.BYTES) + Long.MIN_VALUE;
        hits |= (value >= first && value <= last ? 1L : 0L) << row;
      }
      truths.set(word, hits, Validity.word(vector, word, rows));
    }
    return truths;
  }

  static Truths in(FieldVector vector, Column.Type type, Longs values, int rows) {
    Truths truths = new Truths(rows);
    ArrowBuf data = vector.getDataBuffer();
    for (int word = 0; word < truths.yes.length; word++) {
      int start = word << 6;
      int end = Math.min(rows, start + Long.SIZE);
      long hits = 0;
      for (int row = start; row < end; row++) {
        hits |= (values.contains(read(data, type, row)) ? 1L : 0L) << row;
      }
      truths.set(word, hits, Validity.word(vector, word, rows));
    }
    return truths;
  }

  static Truths range(FieldVector vector, Column.Type type, double low, double high, int rows) {
    Truths truths = new Truths(rows);
    ArrowBuf data = vector.getDataBuffer();
    boolean single = type == Column.Type.FLOAT32;
    for (int word = 0; word < truths.yes.length; word++) {
      int start = word << 6;
      int end = Math.min(rows, start + Long.SIZE);
      long hits = 0;
      for (int row = start; row < end; row++) {
        double value =
            single
                ? data.getFloat((long) row * Float.BYTES)
                : data.getDouble((long) row * Double.BYTES);
        hits |= (value >= low && value <= high ? 1L : 0L) << row;
      }
      truths.set(word, hits, Validity.word(vector, word, rows));
    }
    return truths;
  }

  static Truths is(FieldVector vector, boolean value, int rows) {
    Truths truths = new Truths(rows);
    for (int word = 0; word < truths.yes.length; word++) {
      long bits = Validity.bits(vector.getDataBuffer(), word);
      truths.set(word, value ? bits : ~bits, Validity.word(vector, word, rows));
    }
    return truths;
  }

  private static long read(ArrowBuf data, Column.Type type, int row) {
    return switch (type) {
      case INT8 -> data.getByte(row);
      case INT16 -> data.getShort((long) row * Short.BYTES);
      case INT32, DAY -> data.getInt((long) row * Integer.BYTES);
      case INT64, UINT64, MICROSECOND -> data.getLong((long) row * Long.BYTES);
      case UINT8 -> data.getByte(row) & 0xff;
      case UINT16 -> data.getShort((long) row * Short.BYTES) & 0xffff;
      case UINT32 -> data.getInt((long) row * Integer.BYTES) & 0xffff_ffffL;
      case BOOL, FLOAT32, FLOAT64, VAR_BYTES, FIXED_BYTES, GEO, LIST, VECTOR ->
          throw new IllegalStateException(type + " holds no integers");
    };
  }
}
