// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.Calibrator;
import io.sagitta.shard.segment.RowRun;
import io.sagitta.shard.segment.Segment;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Measures the recall of a graph with rows of its segment that it does not hold yet. */
final class Measurement {
  private final Segment segment;
  private final FieldIndex target;
  private final long logIndex;
  private final BooleanSupplier stopped;

  Measurement(Segment segment, FieldIndex target, long logIndex, BooleanSupplier stopped) {
    this.segment = segment;
    this.target = target;
    this.logIndex = logIndex;
    this.stopped = stopped;
  }

  /** Takes it; without queries the result promises nothing, and every search scans. */
  Calibration take() {
    int size = target.index().size();
    SegmentRows rows = new SegmentRows(segment, target.field().fieldId());
    List<List<float[]>> queries = HeldOut.queries(rows, target.field(), size, segment.rows());
    Calibrator calibrator =
        new Calibrator(
            target.index(),
            rows,
            present(size),
            size,
            () -> {
              if (stopped.getAsBoolean()) {
                throw new IndexingStopped();
              }
            });
    return calibrator.measure(queries);
  }

  /** The rows that live and have a vector, of those in the graph. */
  private long[] present(int size) {
    int fieldId = target.field().fieldId();
    long[] bits = segment.lives().alive(size, logIndex);
    for (RowRun run : segment.runs()) {
      if (run.allHaveVectors(fieldId)) {
        continue;
      }
      for (int row = 0; row < run.rows() && run.start() + row < size; row++) {
        if (!run.hasVector(fieldId, row)) {
          int ordinal = run.start() + row;
          bits[ordinal >> 6] &= ~(1L << ordinal);
        }
      }
    }
    return bits;
  }
}
