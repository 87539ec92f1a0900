// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.model.PointId;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Whether a loaded collection answers rightly. */
final class Checks {
  private static final int SAMPLE = 20;

  private Checks() {}

  /** Whether random rows' own vectors find them first, or a twin, with score 1. */
  static boolean findsItsOwn(
      SagittaClient client, String collection, Rows rows, long count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < SAMPLE; i++) {
      if (!findsItself(client, collection, rows, random.nextLong(count))) {
        return false;
      }
    }
    return true;
  }

  /** Whether an exact search for a row's own vector finds it first, or a twin, with score 1. */
  static boolean findsItself(SagittaClient client, String collection, Rows rows, long id) {
    try (Answer answer = client.search(collection).vectors(rows.vector(id)).k(1).exact().run()) {
      List<Row> hits = answer.rows();
      return hits.size() == 1
          && isTwin(rows, hits.getFirst().id(), id)
          && Math.abs(hits.getFirst().score().orElse(0) - 1) < 1e-5
          && answer.certificate().orElseThrow().exact()
          && answer.certificate().orElseThrow().missing().isEmpty();
    }
  }

  private static boolean isTwin(Rows rows, PointId found, long id) {
    return found instanceof PointId.Int64(long other)
        && (other == id || Arrays.equals(rows.vector(other), rows.vector(id)));
  }
}
