// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.VectorRows;
import java.util.Arrays;

/**
 * Codes and links of the rows {@code [0, size())} of one vector field in one segment. It owns its
 * memory; once a row is encoded, its vector is not looked at again.
 *
 * <p>Threads: one coordinator calls {@link #reserve}, {@link #publish}, {@link #dropLow} and {@link
 * #trim} while no row is encoded or inserted. Several threads may encode, and several {@link
 * GraphBuilder}s insert, at a time. {@link #tryRetain} keeps an index open until {@link #release}.
 * Searches run at any time; what makes that safe stands at {@link GraphMemory}.
 */
public final class VectorIndex extends Counted implements AutoCloseable {
  /** Enough that workers hardly meet; a power of two. */
  private static final int LOCKS = 1 << 10;

  private final IndexParameters parameters;
  private final GraphSpace space;
  private final Object[] locks = new Object[LOCKS];
  private volatile GraphMemory memory;
  private volatile int size;
  private volatile boolean closed;

  private VectorIndex(IndexParameters parameters, GraphSpace space, GraphMemory memory, int size) {
    this.parameters = parameters;
    this.space = space;
    this.memory = memory;
    this.size = size;
    Arrays.setAll(locks, i -> new Object());
  }

  /**
   * An index without rows.
   *
   * @param centre what is subtracted from every vector (after it was brought to length 1 under
   *     cosine): about the mean, or zero. Ignored for bits.
   */
  public static VectorIndex empty(IndexParameters parameters, float[] centre) {
    return new VectorIndex(
        parameters, new GraphSpace(parameters, centre), GraphMemory.allocate(parameters, 0), 0);
  }

  /**
   * An index over memory that an {@link #image} filled, such as a mapped file. It is complete and
   * takes no more rows.
   *
   * @param onClose called once nobody reads the memory any more
   * @throws IllegalArgumentException where regions are too short for what the image says
   */
  public static VectorIndex of(IndexImage image, Runnable onClose) {
    return new VectorIndex(
        image.parameters(),
        new GraphSpace(image.parameters(), image.centre()),
        GraphMemory.of(image, onClose),
        image.size());
  }

  public IndexParameters parameters() {
    return parameters;
  }

  // Growth

  /** Makes room for rows {@code [0, capacity)}. Searches under way finish on the old memory. */
  public void reserve(int capacity) {
    GraphMemory old = memory;
    if (capacity > old.capacity) {
      memory = old.grown(capacity);
      old.release();
    }
  }

  public int capacity() {
    return memory.capacity;
  }

  /**
   * Encodes rows {@code [from, to)} of {@code source} as ordinals from {@code firstOrdinal} on.
   *
   * @param presentOrNull which rows of {@code source} have a vector, row {@code r} as bit {@code r
   *     & 63} of word {@code r >> 6}; null where all have. The others are never linked nor found.
   * @param idHashes of the rows' ids, {@code idHashes[i]} that of ordinal {@code firstOrdinal + i}
   */
  public void encode(
      int firstOrdinal,
      VectorRows source,
      int from,
      int to,
      long[] presentOrNull,
      long[] idHashes) {
    GraphMemory target = acquire();
    try {
      if (firstOrdinal < 0 || firstOrdinal + (to - from) > target.capacity) {
        throw new IllegalArgumentException(
            "ordinals " + firstOrdinal + " + " + (to - from) + " of " + target.capacity);
      }
      float[] values = new float[parameters.dimension()];
      for (int row = from; row < to; row++) {
        int ordinal = firstOrdinal + row - from;
        if (presentOrNull != null && (presentOrNull[row >> 6] >>> row & 1) == 0) {
          target.markAbsent(ordinal);
        } else {
          target.drawLevel(ordinal, idHashes[row - from]);
          space.encode(target.rows, ordinal, source, row, values);
        }
      }
    } finally {
      target.release();
    }
  }

  /**
   * Says that all rows below {@code newSize} are encoded, and inserted where they have a vector.
   */
  public void publish(int newSize) {
    if (newSize < size || newSize > memory.capacity) {
      throw new IllegalArgumentException(newSize + " rows after " + size);
    }
    size = newSize;
  }

  /** Rows that a search finds. */
  public int size() {
    return size;
  }

  // Readers

  /** Bytes of codes, in memory outside the heap or in a mapped file. */
  public long codeBytes() {
    return memory.codeBytes();
  }

  /** Bytes of links and levels. */
  public long linkBytes() {
    return memory.linkBytes();
  }

  public long bytes() {
    GraphMemory now = memory;
    return now.codeBytes() + now.linkBytes();
  }

  /** What {@link #bytes} of an index with room for so many rows will be, but for rounding. */
  public static long bytes(IndexParameters parameters, int capacity) {
    return GraphMemory.codeBytes(parameters, capacity)
        + GraphMemory.linkBytes(parameters, capacity);
  }

  /** The memory as it is now; released by the caller. */
  GraphMemory acquire() {
    while (!closed) {
      GraphMemory now = memory;
      if (now.tryRetain()) {
        return now;
      }
    }
    throw new IllegalStateException("the index is closed");
  }

  /** Held while a row's lists are changed. */
  Object lock(int ordinal) {
    return locks[ordinal & LOCKS - 1];
  }

  GraphSpace space() {
    return space;
  }

  // Sealing

  /** The regions, valid while the index is open and nothing is inserted. */
  public IndexImage image() {
    return memory.image(space.centre(), size);
  }

  /** Shows searches what neighbours are like, or with null no longer; takes over the hold. */
  void replaceNeighbours(NeighbourCodes codes) {
    GraphMemory old = memory;
    memory = old.withNeighbours(codes);
    old.release();
    if (codes != null) {
      codes.release();
    }
  }

  /** Whether searches know beforehand what neighbours are like. */
  public boolean hasNeighbourCodes() {
    return memory.neighbours != null;
  }

  /**
   * Gives back the low nibbles' memory: of use once nothing will be inserted and searches read 4
   * bits.
   */
  public void dropLow() {
    GraphMemory old = memory;
    if (old.rows.hasLow()) {
      memory = old.withoutLow();
      old.release();
    }
  }

  /** Gives back room for rows that will not come: nothing is inserted from here on. */
  public void trim() {
    GraphMemory old = memory;
    if (old.capacity > size) {
      memory = old.trimmed(size);
      old.release();
    }
  }

  /** What {@link #bytes} will be after {@link #trim}, but for rounding. */
  public long trimmedBytes() {
    return memory.trimmedBytes(size);
  }

  /** Drops the owner's hold. */
  @Override
  public void close() {
    release();
  }

  @Override
  void free() {
    closed = true;
    memory.release();
  }
}
