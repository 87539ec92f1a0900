// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import java.util.List;

/** The rows of a growing segment that one view sees: those applied before it. */
public final class GrowingPrefix implements Segment {
  private final long number;
  private final CollectionSchema schema;
  private final AppliedRows applied;
  private final Lives lives;

  GrowingPrefix(long number, CollectionSchema schema, AppliedRows applied, Lives lives) {
    this.number = number;
    this.schema = schema;
    this.applied = applied;
    this.lives = lives;
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
  public List<? extends RowRun> runs() {
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
