// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A read of one shard. Field lists name the columns to return besides id, {@code _version} and
 * score.
 */
public sealed interface ShardRead {
  ShardId shard();

  ReadMode mode();

  /**
   * k nearest neighbours of each query vector.
   *
   * @param field the vector field
   * @param queries query vectors, row-major {@code count x dimension}; bits as 0 and 1
   * @param k hits wanted of this shard, offset included
   * @param filter restricts the points searched
   * @param effort how thorough to be
   * @param bound hits must score at least this (similarity) or lie within it (distance)
   * @param fields columns to return
   * @param explain whether to report per segment
   */
  record Search(
      ShardId shard,
      ReadMode mode,
      String field,
      QueryVectors queries,
      int k,
      Optional<FilterText> filter,
      Effort effort,
      OptionalDouble bound,
      List<String> fields,
      boolean explain)
      implements ShardRead {}

  /** The points with these ids, those absent left out. */
  record Get(ShardId shard, ReadMode mode, List<PointId> ids, List<String> fields)
      implements ShardRead {}

  /** Points in id order, after {@code after}, at most {@code limit}. */
  record Scan(
      ShardId shard,
      ReadMode mode,
      Optional<FilterText> filter,
      Optional<PointId> after,
      OptionalInt limit,
      List<String> fields)
      implements ShardRead {}

  /** Number of points, of those that match a filter where one is given. */
  record Count(ShardId shard, ReadMode mode, Optional<FilterText> filter) implements ShardRead {}

  /**
   * Query vectors.
   *
   * @param count how many
   * @param dimension components of each
   * @param values {@code count * dimension} finite values, row-major
   */
  record QueryVectors(int count, int dimension, float[] values) {
    public QueryVectors {
      if (count < 1 || dimension < 1 || values.length != (long) count * dimension) {
        throw new IllegalArgumentException(
            count + " x " + dimension + " query vectors, " + values.length + " values");
      }
    }
  }

  /** How thorough a search is. */
  sealed interface Effort {
    /** Mean recall wanted, in (0, 1]. */
    record Recall(double target) implements Effort {}

    /** Candidate list length of the graph search, 1 to 65,536. */
    record Ef(int value) implements Effort {}

    /** Every live point is scored. */
    record Exact() implements Effort {}
  }
}
