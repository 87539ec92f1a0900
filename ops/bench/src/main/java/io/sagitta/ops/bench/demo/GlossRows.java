// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.demo;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.ops.bench.wordnet.Gloss;
import io.sagitta.ops.bench.wordnet.GlossCollection;
import io.sagitta.ops.bench.wordnet.GlossEmbedder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;

/** WordNet glosses as Arrow columns. */
final class GlossRows {
  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(
                  1,
                  "embedding",
                  VectorType.FLOAT32,
                  GlossEmbedder.DIMENSION,
                  Metric.COSINE,
                  false),
              payload(2, "lemmas", Kind.UTF8),
              payload(3, "gloss", Kind.UTF8),
              payload(4, "pos", Kind.UTF8),
              payload(5, "category", Kind.UTF8),
              payload(6, "senses", Kind.INT32)));

  private GlossRows() {}

  private static PayloadField payload(int fieldId, String name, Kind kind) {
    return new PayloadField(fieldId, name, PayloadType.of(kind));
  }

  /** Rows {@code from} (inclusive) to {@code to} (exclusive). */
  static VectorSchemaRoot batch(GlossCollection data, int from, int to, BufferAllocator allocator) {
    VectorSchemaRoot batch = VectorSchemaRoot.create(ArrowSchemas.toArrow(SCHEMA), allocator);
    batch.allocateNew();
    for (int row = 0; row < to - from; row++) {
      set(batch, row, data.glosses().get(from + row), data.vectors()[from + row]);
    }
    batch.setRowCount(to - from);
    return batch;
  }

  private static void set(VectorSchemaRoot batch, int row, Gloss gloss, float[] vector) {
    ((BigIntVector) batch.getVector(CollectionSchema.ID)).setSafe(row, gloss.id());
    FixedSizeListVector vectors = (FixedSizeListVector) batch.getVector("embedding");
    Float4Vector components = (Float4Vector) vectors.getDataVector();
    vectors.startNewValue(row);
    for (int d = 0; d < vector.length; d++) {
      components.setSafe(row * vector.length + d, vector[d]);
    }
    text(batch, "lemmas", row, gloss.lemmas());
    text(batch, "gloss", row, gloss.gloss());
    text(batch, "pos", row, gloss.partOfSpeech());
    text(batch, "category", row, gloss.category());
    ((IntVector) batch.getVector("senses")).setSafe(row, gloss.senses());
  }

  private static void text(VectorSchemaRoot batch, String field, int row, String value) {
    ((VarCharVector) batch.getVector(field)).setSafe(row, value.getBytes(StandardCharsets.UTF_8));
  }
}
