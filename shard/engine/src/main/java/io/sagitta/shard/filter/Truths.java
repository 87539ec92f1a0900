// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.apache.arrow.vector.FieldVector;

/** Of which rows a predicate is true and of which false; of the others it is unknown. */
final class Truths {
  final int rows;
  long[] yes;
  long[] no;

  /** Unknown of every row. */
  Truths(int rows) {
    this.rows = rows;
    this.yes = new long[words(rows)];
    this.no = new long[words(rows)];
  }

  /**
   * True or false of the rows that have a value, as a test of the row says; unknown of the others.
   */
  static Truths of(FieldVector vector, int rows, IntPredicate test) {
    Truths truths = new Truths(rows);
    for (int word = 0; word < truths.yes.length; word++) {
      long valid = Validity.word(vector, word, rows);
      long hits = 0;
      for (long left = valid; left != 0; left &= left - 1) {
        int row = (word << 6) + Long.numberOfTrailingZeros(left);
        if (test.test(row)) {
          hits |= 1L << row;
        }
      }
      truths.set(word, hits, valid);
    }
    return truths;
  }

  static int words(int rows) {
    return (rows + 63) >>> 6;
  }

  /** The bits of word {@code word} that stand for rows. */
  static long rowsOf(int word, int rows) {
    int left = rows - (word << 6);
    return left >= Long.SIZE ? -1L : (1L << left) - 1;
  }

  Truths allTrue() {
    for (int word = 0; word < yes.length; word++) {
      yes[word] = rowsOf(word, rows);
    }
    return this;
  }

  /** Sets a word of rows that have a value. */
  void set(int word, long hits, long valid) {
    yes[word] = hits & valid;
    no[word] = ~hits & valid;
  }

  Truths negate() {
    long[] turned = yes;
    yes = no;
    no = turned;
    return this;
  }

  Truths and(Truths other) {
    for (int word = 0; word < yes.length; word++) {
      yes[word] &= other.yes[word];
      no[word] |= other.no[word];
    }
    return this;
  }

  Truths or(Truths other) {
    for (int word = 0; word < yes.length; word++) {
      yes[word] |= other.yes[word];
      no[word] &= other.no[word];
    }
    return this;
  }

  boolean yes(int row) {
    return (yes[row >> 6] >>> row & 1) != 0;
  }

  @Override
  public String toString() {
    return "yes " + Arrays.toString(yes) + " no " + Arrays.toString(no);
  }
}
