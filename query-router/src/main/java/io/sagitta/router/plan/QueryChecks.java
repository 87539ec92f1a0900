// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.flight.Command;
import io.sagitta.flight.RequestLimits;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.GroupColumn;
import io.sagitta.model.Metric;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardRead.QueryVectors;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** What of a search can be checked only with the field at hand. */
final class QueryChecks {
  private QueryChecks() {}

  /** Vectors as given. */
  static QueryVectors vectors(VectorField field, float[][] rows) {
    checkCount(rows.length);
    float[] values = new float[Math.multiplyExact(rows.length, field.dimension())];
    for (int row = 0; row < rows.length; row++) {
      if (rows[row].length != field.dimension()) {
        throw wrongDimension(field, rows[row].length);
      }
      System.arraycopy(rows[row], 0, values, row * field.dimension(), field.dimension());
    }
    return checked(field, new QueryVectors(rows.length, field.dimension(), values));
  }

  /** Little-endian float32, as many rows as the length holds dimensions. */
  static QueryVectors packed(VectorField field, byte[] littleEndian) {
    int rowBytes = field.dimension() * Float.BYTES;
    if (littleEndian.length == 0 || littleEndian.length % rowBytes != 0) {
      throw SagittaException.invalid(
          "'vector_f32' has %d bytes, expected a multiple of %d: vectors of %d float32 for field %s"
              .formatted(
                  littleEndian.length, rowBytes, field.dimension(), Names.quote(field.name())));
    }
    int count = littleEndian.length / rowBytes;
    checkCount(count);
    float[] values = new float[littleEndian.length / Float.BYTES];
    ByteBuffer.wrap(littleEndian).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return checked(field, new QueryVectors(count, field.dimension(), values));
  }

  private static void checkCount(int count) {
    if (count < 1 || count > RequestLimits.QUERIES_MAX) {
      throw SagittaException.invalid(
          count + " query vectors, expected 1.." + RequestLimits.QUERIES_MAX);
    }
  }

  static SagittaException wrongDimension(VectorField field, int got) {
    return SagittaException.invalid(
        "query vector has %d components, expected %d as in field %s"
            .formatted(got, field.dimension(), Names.quote(field.name())));
  }

  private static QueryVectors checked(VectorField field, QueryVectors queries) {
    for (int query = 0; query < queries.count(); query++) {
      boolean zero = true;
      for (int i = 0; i < queries.dimension(); i++) {
        float value = queries.values()[query * queries.dimension() + i];
        if (!Float.isFinite(value)) {
          throw component(query, i, value, "a finite number");
        }
        if (field.type() == VectorType.BINARY && value != 0 && value != 1) {
          throw component(query, i, value, "0 or 1");
        }
        zero &= value == 0;
      }
      if (zero && field.metric() == Metric.COSINE) {
        throw SagittaException.invalid(
            "query vector "
                + query
                + " is a zero vector, which has no direction for metric cosine");
      }
    }
    return queries;
  }

  private static SagittaException component(int query, int place, float value, String expected) {
    return SagittaException.invalid(
        "query vector %d, component %d is %s, expected %s"
            .formatted(query, place, value, expected));
  }

  /** min_score of a similarity, max_distance of a distance. */
  static OptionalDouble bound(
      VectorField field, OptionalDouble minScore, OptionalDouble maxDistance) {
    String metric = field.metric().name().toLowerCase(java.util.Locale.ROOT);
    if (field.metric().higherIsBetter() && maxDistance.isPresent()) {
      throw SagittaException.invalid(
          "'max_distance' does not go with metric " + metric + ", expected 'min_score'");
    }
    if (!field.metric().higherIsBetter() && minScore.isPresent()) {
      throw SagittaException.invalid(
          "'min_score' does not go with metric " + metric + ", expected 'max_distance'");
    }
    return minScore.isPresent() ? minScore : maxDistance;
  }

  /**
   * The grouping of a search, checked also for requests that no parser has seen.
   *
   * @throws SagittaException LIMIT where all queries together ask for too many hits
   */
  static Optional<ShardRead.Grouping> grouping(
      CollectionSchema schema, Command.Search search, int queries) {
    if (search.groupBy().isEmpty()) {
      return Optional.empty();
    }
    Command.GroupBy by = search.groupBy().get();
    GroupColumn.field(schema, by.field());
    long hits = ((long) search.offset() + search.k()) * by.size();
    if (by.size() < 1 || hits > RequestLimits.HITS_MAX) {
      throw SagittaException.invalid(
          "group_size is %d and (offset + k) * group_size %d, expected at least 1 and at most %d"
              .formatted(by.size(), hits, RequestLimits.HITS_MAX));
    }
    if (hits * queries > RequestLimits.GROUPED_HITS_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "%d query vectors, each for (offset + k) * group_size = %d hits, are %d hits together, expected at most %d"
              .formatted(queries, hits, hits * queries, RequestLimits.GROUPED_HITS_MAX));
    }
    return Optional.of(new ShardRead.Grouping(by.field(), by.size(), List.of()));
  }

  /** Checks k and offset also for requests that no parser has seen. */
  static int hitsPerShard(Command.Search search) {
    if (search.k() < 1 || search.offset() < 0) {
      throw SagittaException.invalid(
          "k is %d and offset %d, expected k of at least 1 and offset of at least 0"
              .formatted(search.k(), search.offset()));
    }
    long hits = (long) search.offset() + search.k();
    if (hits > RequestLimits.HITS_MAX) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT,
          "offset + k is " + hits + ", expected at most " + RequestLimits.HITS_MAX);
    }
    return (int) hits;
  }
}
