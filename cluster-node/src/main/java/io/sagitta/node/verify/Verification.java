// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.placement.ReplicaDigest;
import io.sagitta.node.placement.ReplicaDigest.Damaged;
import io.sagitta.node.placement.ReplicaDigest.Taken;
import io.sagitta.node.placement.ReplicaDigest.Unavailable;
import io.sagitta.node.placement.ReplicaDigest.Unreachable;
import io.sagitta.node.verify.ReplicaComparison.Judged;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Asks the replicas of a collection for their digests, shard by shard: a digest reads all rows, so
 * a node takes one at a time. The replicas of a shard are asked side by side, so that one that is
 * damaged, down or slow does not keep the others from being compared.
 */
public final class Verification {
  /** Rounds in which replicas are read until all are at one log index, while others write. */
  private static final int ROUNDS_MAX = 5;

  /** A replica, asked over the network or in this process. */
  @FunctionalInterface
  public interface Replicas {
    /**
     * Its digest, or what there is in place of one. Blocks.
     *
     * @param minIndex log index at which it is taken at the earliest
     */
    ReplicaDigest digest(NodeId node, ShardId shard, long minIndex, Duration timeout);
  }

  private final Replicas replicas;
  private final Function<NodeId, String> names;
  private final Executor executor;

  /**
   * The questions of a node.
   *
   * @param names what answers call a node
   * @param executor runs what blocks: one virtual thread each
   */
  public Verification(Replicas replicas, Function<NodeId, String> names, Executor executor) {
    this.replicas = replicas;
    this.names = names;
    this.executor = executor;
  }

  /**
   * Compares the replicas of a collection. Blocks; the answer is that of {@link
   * io.sagitta.router.Metadata#verify}.
   *
   * <p>Every question gets an equal part of the time that is left, by the shards that are still to
   * come, and one part stays: a node that hangs costs its own shard's part, not the others'.
   *
   * @param left the time that the call still has
   */
  public ObjectNode verify(ShardMap.Collection collection, Supplier<Duration> left) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    ArrayNode shards = out.putArray("shards");
    int toCome = collection.shards().size();
    for (ShardMap.Shard shard : collection.shards()) {
      int parts = toCome-- + 1;
      shards.add(json(shard, answers(shard, () -> left.get().dividedBy(parts))));
    }
    return out;
  }

  /**
   * Reads every replica at or after the furthest index any of them was at, until all were at one:
   * an idle shard takes two rounds at most, a busy one may take all and stay undecided. A replica
   * that cannot be read is asked once.
   */
  private SequencedMap<String, ReplicaDigest> answers(
      ShardMap.Shard shard, Supplier<Duration> timeout) {
    SequencedMap<String, ReplicaDigest> answers = new LinkedHashMap<>();
    List<NodeId> asked = shard.replicas();
    long index = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
      answers.putAll(ask(shard, asked, index, timeout.get()));
      List<Taken> taken =
          answers.values().stream().filter(Taken.class::isInstance).map(Taken.class::cast).toList();
      if (taken.stream().map(Taken::index).distinct().count() < 2) {
        break;
      }
      index = taken.stream().mapToLong(Taken::index).max().orElseThrow();
      asked =
          asked.stream().filter(node -> answers.get(names.apply(node)) instanceof Taken).toList();
    }
    return answers;
  }

  private SequencedMap<String, ReplicaDigest> ask(
      ShardMap.Shard shard, List<NodeId> asked, long minIndex, Duration timeout) {
    SequencedMap<String, CompletableFuture<ReplicaDigest>> coming = new LinkedHashMap<>();
    for (NodeId node : asked) {
      coming.put(
          names.apply(node),
          CompletableFuture.supplyAsync(
              () -> replicas.digest(node, shard.id(), minIndex, timeout), executor));
    }
    SequencedMap<String, ReplicaDigest> answers = new LinkedHashMap<>();
    coming.forEach((name, answer) -> answers.put(name, answer.join()));
    return answers;
  }

  private static ObjectNode json(
      ShardMap.Shard shard, SequencedMap<String, ReplicaDigest> answers) {
    ReplicaComparison comparison = ReplicaComparison.of(answers);
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("shard", shard.number());
    out.put("equal", comparison.equal().orElse(null));
    ArrayNode copies = out.putArray("replicas");
    answers.forEach(
        (name, answer) -> copies.add(json(name, answer, comparison.judged().get(name))));
    return out;
  }

  private static ObjectNode json(String name, ReplicaDigest answer, Judged judged) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("node", name);
    switch (answer) {
      case Taken(long index, long rows, String digest) -> {
        out.put("index", index);
        out.put("rows", rows);
        out.put("digest", digest);
      }
      case Damaged(String cause) -> out.put("error", error(ErrorCode.CORRUPT, cause));
      case Unreachable(String cause) -> out.put("error", error(ErrorCode.UNAVAILABLE, cause));
      case Unavailable(ErrorCode code, String cause) -> out.put("error", error(code, cause));
    }
    out.put("verdict", judged.verdict().word());
    judged.cause().ifPresent(cause -> out.put("cause", cause));
    return out;
  }

  private static String error(ErrorCode code, String message) {
    return code.qualified() + ": " + message;
  }
}
