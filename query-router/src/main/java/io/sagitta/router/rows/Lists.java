// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import org.apache.arrow.vector.ExtensionTypeVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;

/**
 * Lists of any of Arrow's three kinds: where each begins in the vector of items, and how long it
 * is.
 */
sealed interface Lists {
  /** The items, extension types looked through. */
  FieldVector items();

  long start(int list);

  int length(int list);

  static Lists of(FieldVector vector) {
    return switch (vector) {
      case ListVector list -> new Plain(list, storage(list.getDataVector()));
      case LargeListVector list -> new Large(list, storage(list.getDataVector()));
      case FixedSizeListVector list -> new Fixed(list.getListSize(), storage(list.getDataVector()));
      default -> throw new IllegalArgumentException("no list: " + vector.getField());
    };
  }

  private static FieldVector storage(FieldVector items) {
    return items instanceof ExtensionTypeVector<?> extension
        ? (FieldVector) extension.getUnderlyingVector()
        : items;
  }

  /** Offsets of 32 bits. */
  record Plain(ListVector list, FieldVector items) implements Lists {
    @Override
    public long start(int at) {
      return list.getElementStartIndex(at);
    }

    @Override
    public int length(int at) {
      return list.getElementEndIndex(at) - list.getElementStartIndex(at);
    }
  }

  /** Offsets of 64 bits; the items are counted in 32 all the same, so any place fits an int. */
  record Large(LargeListVector list, FieldVector items) implements Lists {
    @Override
    public long start(int at) {
      return list.getElementStartIndex(at);
    }

    @Override
    public int length(int at) {
      return (int) (list.getElementEndIndex(at) - list.getElementStartIndex(at));
    }
  }

  /** Equal lengths. */
  record Fixed(int size, FieldVector items) implements Lists {
    @Override
    public long start(int at) {
      return (long) at * size;
    }

    @Override
    public int length(int at) {
      return size;
    }
  }
}
