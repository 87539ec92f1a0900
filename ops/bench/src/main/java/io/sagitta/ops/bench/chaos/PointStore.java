// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * What the drivers need of a cluster: one collection of {@link Described} points with int64 ids.
 * Reads are strong and fail with a {@link io.sagitta.model.SagittaException}. Safe for several
 * threads.
 */
public interface PointStore extends AutoCloseable {

  /** Creates the collection and waits until it may be used. */
  void create(int shards, int replicas);

  /** How many shards there are. */
  int shards();

  /** Shard number of an id. */
  int shardOf(long id);

  /**
   * A lane for the writes of one writer. It retries safely by itself until a write's deadline.
   *
   * @param deadline time after which an unanswered write's outcome is unknown
   */
  Lane lane(int writer, Duration deadline);

  /** All points. */
  Map<Long, StoredPoint> scan();

  /** Points by id; absent ones are left out. */
  List<StoredPoint> get(List<Long> ids);

  /** Number of points. */
  long count();

  /** The id of the point nearest to this vector, exactly. */
  OptionalLong nearest(float[] vector);

  /** Name of the node that leads a shard, as far as anybody says. */
  Optional<String> leader(int shard);

  /**
   * Compares the replicas: shards whose digests differ, by number, in words; a shard that could not
   * be compared yet is named in {@link Agreement#open}.
   */
  Agreement compareReplicas();

  /**
   * How replicas agree.
   *
   * @param different shards whose replicas differ, in words
   * @param open shards that could not be compared now, in words
   */
  record Agreement(List<String> different, List<String> open) {
    public Agreement {
      different = List.copyOf(different);
      open = List.copyOf(open);
    }
  }

  /** The writes of one writer, in the order sent. */
  interface Lane extends AutoCloseable {
    /**
     * Sends a write. For an {@link Write.Kind#INCREMENT} the condition is {@code version}. The
     * future never fails.
     */
    CompletableFuture<Outcome> send(Write write, OptionalLong version);

    @Override
    void close();
  }

  @Override
  void close();
}
