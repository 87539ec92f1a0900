// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.ops.bench.engine.LaneVectors;
import java.util.SplittableRandom;

/** A lane's rows, the id the row's number. */
record LaneRows(LaneVectors lane) implements Rows {
  @Override
  public int dimension() {
    return lane.dimension();
  }

  @Override
  public float[] vector(long id) {
    return lane.row(Math.toIntExact(id));
  }

  @Override
  public float[] query(SplittableRandom draw) {
    return lane.query(draw.nextInt(lane.queries()));
  }
}
