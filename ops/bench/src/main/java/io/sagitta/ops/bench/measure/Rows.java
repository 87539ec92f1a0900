// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.measure;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/**
 * Rows to be loaded: ids from 0 on, a vector, and a number to filter by. A row can be made again at
 * any time, so none need be kept. Any thread.
 */
interface Rows {
  String VECTOR = "vector";
  String GROUP = "bucket";
  int GROUPS = 100;

  int dimension();

  /** The vector of an id. */
  float[] vector(long id);

  /** A vector to search for that no row was made from. */
  float[] query(SplittableRandom draw);

  default CollectionSchema schema() {
    return new CollectionSchema(
        1,
        IdType.INT64,
        List.of(
            new VectorField(1, VECTOR, VectorType.FLOAT32, dimension(), Metric.COSINE, false),
            new PayloadField(2, GROUP, PayloadType.of(Kind.INT32))));
  }

  /** Rows {@code from} (inclusive) to {@code to} (exclusive). */
  default VectorSchemaRoot batch(long from, long to, BufferAllocator allocator) {
    VectorSchemaRoot batch = VectorSchemaRoot.create(ArrowSchemas.toArrow(schema()), allocator);
    BigIntVector ids = (BigIntVector) batch.getVector(CollectionSchema.ID);
    FixedSizeListVector vectors = (FixedSizeListVector) batch.getVector(VECTOR);
    IntVector groups = (IntVector) batch.getVector(GROUP);
    int rows = Math.toIntExact(to - from);
    ids.allocateNew(rows);
    groups.allocateNew(rows);
    vectors.setInitialCapacity(rows);
    vectors.allocateNew();
    Float4Vector components = (Float4Vector) vectors.getDataVector();
    components.allocateNew(rows * dimension());
    for (int row = 0; row < rows; row++) {
      ids.set(row, from + row);
      groups.set(row, (int) ((from + row) % GROUPS));
      vectors.setNotNull(row);
      float[] vector = vector(from + row);
      for (int d = 0; d < dimension(); d++) {
        components.set(row * dimension() + d, vector[d]);
      }
    }
    components.setValueCount(rows * dimension());
    batch.setRowCount(rows);
    return batch;
  }
}
