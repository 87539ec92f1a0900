// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/**
 * How the codes of one row lie in memory, independent of the machine's registers so that files move
 * between machines. Rows are whole cache lines, so that a row of 100 components costs one.
 *
 * <p>Nibble rows, for everything that is scored by float arithmetic. A component's 8-bit code is
 * {@code 16 h + l}; the nibbles {@code h} are one row, the nibbles {@code l} another of the same
 * form in a region of its own, since most searches read only the first:
 *
 * <pre>
 * 2 s      nibbles of components 4s (bits 0-3), 4s+1 (4-7), 4s+2 (8-11), 4s+3 (12-15) as a short
 * ...      zero
 * end-12   float low    of a high row: what code h means is low + step h
 * end-8    float step     of a low row: what code 16 h + l means is low + step (16 h + l)
 * end-4    float bias   of a high row: see {@link QueryPlanes}
 *          float sum    of a low row: of all components as the 8-bit code means them
 * </pre>
 *
 * <p>Bit rows, for binary vectors: the bits as stored, then zero; no second region.
 *
 * @param dimension components
 * @param bits whether rows are bits
 */
public record CodeLayout(int dimension, boolean bits) {
  /** Shorts of a 64-byte block, and so accumulators of a sum. */
  static final int LANES = 32;

  static final int BLOCK_BYTES = 64;

  /** Components of a block of nibbles. */
  static final int BLOCK_COMPONENTS = 128;

  private static final int FACTOR_BYTES = 3 * Float.BYTES;

  /** Checks the dimension. */
  public CodeLayout {
    if (dimension < 1) {
      throw new IllegalArgumentException("dimension " + dimension);
    }
  }

  /** Bytes from row to row, a multiple of 64. */
  public int stride() {
    return bits ? blocks() * BLOCK_BYTES : roundUp(nibbleBytes() + FACTOR_BYTES, BLOCK_BYTES);
  }

  /** Blocks of 64 bytes that hold codes. */
  int blocks() {
    return roundUp(bits ? (dimension + 7) / 8 : nibbleBytes(), BLOCK_BYTES) / BLOCK_BYTES;
  }

  /** Where a row's three floats are. */
  int factorsAt() {
    return stride() - FACTOR_BYTES;
  }

  /** Place of a component in the planes of a query: by block, then plane, then lane. */
  static int plane(int component) {
    int inBlock = component & BLOCK_COMPONENTS - 1;
    return component - inBlock + (inBlock & 3) * LANES + (inBlock >> 2);
  }

  private int nibbleBytes() {
    return (dimension + 3) / 4 * Short.BYTES;
  }

  private static int roundUp(int value, int to) {
    return (value + to - 1) / to * to;
  }
}
