// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.SagittaException;
import io.sagitta.shard.segment.SegmentSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.FieldType;

/** Turns references to rows into the rows of an answer, in memory of their own. */
final class AnswerRows {
  /** Bytes one whole answer may have (docs/contract.md, section 7). */
  static final long ANSWER_BYTES_MAX = 64L << 20;

  static final String QUERY = "query";
  static final String SCORE = "_score";
  static final String VERSION = "_version";
  static final String COUNT = "count";

  private AnswerRows() {}

  /** The fields with these names, in the order asked; INVALID_ARGUMENT where one is unknown. */
  static List<Field> fields(CollectionSchema schema, List<String> names) {
    return names.stream().map(schema::requireField).toList();
  }

  /** Rows of a get or a scan: id, {@code _version}, fields. */
  static VectorSchemaRoot of(
      SegmentSet set, long[] refs, int count, List<Field> fields, BufferAllocator allocator) {
    return build(set, refs, count, fields, allocator, new ArrayList<>(), new ArrayList<>());
  }

  /** Hits of a search: query, id, {@code _score}, {@code _version}, fields. */
  static VectorSchemaRoot ofHits(
      SegmentSet set, Hits hits, List<Field> fields, BufferAllocator allocator) {
    IntVector query = new IntVector(QUERY, notNull(new ArrowType.Int(32, true)), allocator);
    Float4Vector score =
        new Float4Vector(
            SCORE, notNull(new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)), allocator);
    try {
      query.allocateNew(hits.count());
      score.allocateNew(hits.count());
      for (int i = 0; i < hits.count(); i++) {
        query.set(i, hits.queries()[i]);
        score.set(i, hits.scores()[i]);
      }
      query.setValueCount(hits.count());
      score.setValueCount(hits.count());
    } catch (Throwable e) {
      query.close();
      score.close();
      throw e;
    }
    List<FieldVector> before = new ArrayList<>(List.of(query));
    List<FieldVector> after = new ArrayList<>(List.of(score));
    return build(set, hits.refs(), hits.count(), fields, allocator, before, after);
  }

  /** The one row of a count. */
  static VectorSchemaRoot ofCount(long count, BufferAllocator allocator) {
    BigIntVector out = new BigIntVector(COUNT, notNull(new ArrowType.Int(64, true)), allocator);
    out.allocateNew(1);
    out.set(0, count);
    out.setValueCount(1);
    return new VectorSchemaRoot(List.of(out));
  }

  /** Adds up what the rows take; LIMIT above {@link #ANSWER_BYTES_MAX}. */
  private static void checkBytes(RowGather rows, List<Field> fields) {
    long bytes = 0;
    for (int i = 0; i < rows.count(); i++) {
      for (Field field : fields) {
        bytes += rows.valueBytes(field, i);
      }
      if (bytes > ANSWER_BYTES_MAX) {
        throw new SagittaException(
            ErrorCode.LIMIT,
            "the answer's first %d of %d rows take %d bytes, at most %d are allowed: ask for fewer rows or fields"
                .formatted(i + 1, rows.count(), bytes, ANSWER_BYTES_MAX));
      }
    }
  }

  /** Owns the columns given in any case. */
  private static VectorSchemaRoot build(
      SegmentSet set,
      long[] refs,
      int count,
      List<Field> fields,
      BufferAllocator allocator,
      List<FieldVector> beforeId,
      List<FieldVector> afterId) {
    List<FieldVector> columns = new ArrayList<>(beforeId);
    try {
      RowGather rows = new RowGather(set, refs, count);
      checkBytes(rows, fields);
      columns.add(rows.ids(set.schema().idType(), allocator));
      columns.addAll(afterId);
      afterId.clear();
      columns.add(
          rows.versions(
              new BigIntVector(VERSION, notNull(new ArrowType.Int(64, true)), allocator)));
      for (Field field : fields) {
        columns.add(rows.column(field, allocator));
      }
      return new VectorSchemaRoot(
          new org.apache.arrow.vector.types.pojo.Schema(
              columns.stream().map(FieldVector::getField).toList(),
              Map.of(ArrowSchemas.SCHEMA_VERSION, Integer.toString(set.schema().version()))),
          columns,
          count);
    } catch (Throwable e) {
      columns.forEach(FieldVector::close);
      afterId.forEach(FieldVector::close);
      throw e;
    }
  }

  private static FieldType notNull(ArrowType type) {
    return FieldType.notNullable(type);
  }

  /**
   * Hits of all queries, one query after the other, best first.
   *
   * @param count how many there are; the arrays may be longer
   */
  record Hits(int count, int[] queries, long[] refs, float[] scores) {}
}
