// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import java.util.List;

/** A complete segment in memory that waits for its flush. Rows only die from here on. */
public final class FrozenSegment implements Segment {
  private final long number;
  private final CollectionSchema schema;
  private final AppliedRows applied;
  private final Lives lives;
  private final List<Leases.Closing> memory;

  FrozenSegment(
      long number,
      CollectionSchema schema,
      AppliedRows applied,
      Lives lives,
      List<Leases.Closing> memory) {
    this.number = number;
    this.schema = schema;
    this.applied = applied;
    this.lives = lives;
    this.memory = memory;
  }

  /** Its rows, not its lives: what is given back once it has been flushed. */
  List<Leases.Closing> memory() {
    return memory;
  }

  @Override
  public long number() {
    return number;
  }

  @Override
  public CollectionSchema schema() {
    return schema;
  }

  @Override
  public int rows() {
    return applied.rows();
  }

  @Override
  public long version(int row) {
    return applied.version(row);
  }

  @Override
  public Lives lives() {
    return lives;
  }

  @Override
  public List<Chunk> runs() {
    return applied.runs();
  }

  @Override
  public int find(IdColumn ids, int row, long hash) {
    return applied.find(ids, row, hash);
  }

  @Override
  public long bytes() {
    return applied.bytes();
  }
}
