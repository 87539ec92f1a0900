// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import java.util.Optional;

/**
 * Gives a complete index codes of its rows' neighbours: trains, lets threads code all rows, and
 * shows the result to searches. Until then, searches go on without.
 */
public final class NeighbourCoding implements AutoCloseable {
  private final VectorIndex index;
  private final GraphMemory memory;
  private final NeighbourCodes codes;

  private NeighbourCoding(VectorIndex index, GraphMemory memory, NeighbourCodes codes) {
    this.index = index;
    this.memory = memory;
    this.codes = codes;
  }

  /** Whether codes of neighbours may pay for vectors of this kind. */
  public static boolean mayPay(IndexParameters parameters) {
    return NeighbourCodes.mayPay(parameters);
  }

  /** Bytes that they take. */
  public static long bytes(IndexParameters parameters, int rows) {
    return NeighbourCodes.bytes(parameters, rows);
  }

  /**
   * Trains; takes a second or less. Nothing may be inserted any more.
   *
   * @return empty where no row has a link
   */
  public static Optional<NeighbourCoding> begin(VectorIndex index, StopCheck stop) {
    GraphMemory memory = index.acquire();
    boolean begun = false;
    try {
      NeighbourCodes codes = NeighbourCodes.train(memory, index.size(), stop);
      begun = codes != null;
      return begun ? Optional.of(new NeighbourCoding(index, memory, codes)) : Optional.empty();
    } finally {
      if (!begun) {
        memory.release();
      }
    }
  }

  /** Codes rows; one a thread. Every row must come once before {@link #show}. */
  public final class Writer {
    private final NeighbourCodes.Coder coder = new NeighbourCodes.Coder(memory, codes);

    /** Codes the neighbours of one row. */
    public void write(int ordinal) {
      coder.write(ordinal);
    }
  }

  /** A writer for one thread. */
  public Writer writer() {
    return new Writer();
  }

  /** Lets searches use them. */
  public void show() {
    if (!codes.tryRetain()) {
      throw new IllegalStateException("closed");
    }
    index.replaceNeighbours(codes);
  }

  /** Takes them from searches again. */
  public void hide() {
    index.replaceNeighbours(null);
  }

  @Override
  public void close() {
    codes.release();
    memory.release();
  }
}
