// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Draws the queries of a run from a pool that no index has seen. */
final class QuerySet {
  private QuerySet() {}

  /**
   * Writes {@code count} different vectors of the pool to a file, chosen and ordered by the seed.
   *
   * @throws SagittaException INVALID_ARGUMENT: the pool has fewer
   */
  static VectorFile draw(VectorFile pool, int count, long seed, Path out) throws IOException {
    if (count > pool.rows()) {
      throw SagittaException.invalid(
          "--queries " + count + ": only " + pool.rows() + " vectors are held out");
    }
    int[] order = new int[pool.rows()];
    SplittableRandom random = new SplittableRandom(seed);
    try (Arena arena = Arena.ofConfined();
        VectorFile.Writer writer = new VectorFile.Writer(out, pool.dimension())) {
      MemorySegment rows = pool.map(arena);
      for (int i = 0; i < order.length; i++) {
        order[i] = i;
      }
      for (int i = 0; i < count; i++) {
        int swap = i + random.nextInt(order.length - i);
        int drawn = order[swap];
        order[swap] = order[i];
        writer.add(pool.row(rows, drawn));
      }
      return writer.finish();
    }
  }
}
