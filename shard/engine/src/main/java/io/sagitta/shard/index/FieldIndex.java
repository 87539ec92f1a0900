// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.model.VectorField;
import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import java.util.Optional;

/**
 * The graph of one vector field in one segment, as far as it has grown. The {@link Indexer}'s
 * coordinator alone changes it; any thread reads.
 */
public final class FieldIndex {
  private final long segment;
  private final VectorField field;
  private final VectorIndex index;

  private final LiveRecall live = new LiveRecall();
  private final LiveRecall liveFiltered = new LiveRecall();

  private volatile Calibration calibration;

  /** The coordinator's. */
  private boolean readsLow;

  private volatile boolean complete;
  private volatile boolean persisted;
  private volatile boolean displaced;

  FieldIndex(long segment, VectorField field, VectorIndex index) {
    this.segment = segment;
    this.field = field;
    this.index = index;
  }

  /** Number of the segment. */
  public long segment() {
    return segment;
  }

  public VectorField field() {
    return field;
  }

  /** The graph; keep it open by {@code tryRetain} while searching. */
  public VectorIndex index() {
    return index;
  }

  /** What recall it gives; empty while that has not been measured, and it must not be searched. */
  public Optional<Calibration> calibration() {
    return Optional.ofNullable(calibration);
  }

  /** What searches are seen to miss, apart for those under a filter. */
  public LiveRecall live(boolean filtered) {
    return filtered ? liveFiltered : live;
  }

  /** Whether it holds all rows of a segment that grows no more. */
  public boolean isComplete() {
    return complete;
  }

  /** Whether it lies in a file. */
  public boolean isPersisted() {
    return persisted;
  }

  /** Whether it is read from its mapped file, since there was no room in memory. */
  public boolean isDisplaced() {
    return displaced;
  }

  void displaced() {
    displaced = true;
  }

  void calibrated(Calibration measured) {
    readsLow |=
        measured.steps().stream().anyMatch(step -> step.effort().traversal() == Traversal.EIGHT);
    calibration = measured;
  }

  /**
   * Whether searches may read the low nibbles of codes: those planned by an earlier measurement may
   * be under way still.
   */
  boolean readsLow() {
    return readsLow;
  }

  void completed() {
    complete = true;
  }

  void persisted() {
    persisted = true;
  }
}
