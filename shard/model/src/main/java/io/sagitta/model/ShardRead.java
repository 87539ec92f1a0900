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
   * @param grouping puts hits of one value of a field together; k then counts groups
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
      boolean explain,
      Optional<Grouping> grouping)
      implements ShardRead {}

  /**
   * The hits of a query are its k best groups of points with equal values in a field, each with its
   * best points: ordered by the groups' best hit, within a group by score, equal scores by id.
   * Points without a value belong to no group. A shard with fewer than k groups gives all it has.
   *
   * @param field the payload field; see {@link GroupColumn#field}
   * @param size points of a group at most, at least 1
   * @param also for each query, {@link GroupColumn.Value#hash} of groups that are wanted besides
   *     the best, whatever their place; empty where there are none. Groups of the same hash may
   *     come along.
   */
  record Grouping(String field, int size, List<long[]> also) {
    public Grouping {
      if (size < 1) {
        throw new IllegalArgumentException("groups of " + size);
      }
      also = List.copyOf(also);
    }
  }

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
