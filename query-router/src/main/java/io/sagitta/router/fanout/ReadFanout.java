// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Reads several shards at once. */
public final class ReadFanout {
  private final ShardReader reader;
  private final Executor workers;

  /**
   * A fan-out.
   *
   * @param workers runs each task on a virtual thread of its own
   */
  public ReadFanout(ShardReader reader, Executor workers) {
    this.reader = reader;
    this.workers = workers;
  }

  /** One shard and what is asked of it. */
  public record Part(ShardMap.Shard shard, ShardRead read) {}

  /**
   * What came back.
   *
   * @param shards shards that answered, in the order of the parts
   * @param answers their answers
   * @param missing shards that did not
   */
  public record Answers(
      List<ShardMap.Shard> shards, List<ShardAnswer> answers, List<ShardMap.Shard> missing)
      implements AutoCloseable {
    @Override
    public void close() {
      answers.forEach(ShardAnswer::close);
    }
  }

  private record Outcome(ShardMap.Shard shard, ShardAnswer answer, SagittaException failure) {}

  /**
   * Reads all parts. The caller closes the answers.
   *
   * @param partial whether shards that do not answer may be missing, as long as one does
   * @throws SagittaException the first failure in the order of the parts, unless it may be missing
   */
  public Answers read(
      ShardMap.Collection collection, List<Part> parts, boolean partial, ActiveCall call)
      throws InterruptedException {
    if (parts.size() == 1) {
      Part only = parts.getFirst();
      ShardAnswer answer = reader.read(collection, only.shard, only.read, call);
      return new Answers(List.of(only.shard), List.of(answer), List.of());
    }
    // What is to be answered without a late shard must be given up while an answer can still
    // travel.
    long remaining = call.remainingNanos();
    ActiveCall together = call.part(partial ? remaining - remaining / 10 : remaining);
    List<CompletableFuture<Outcome>> running = new ArrayList<>(parts.size());
    for (Part part : parts) {
      running.add(
          CompletableFuture.supplyAsync(
              () -> readOne(collection, part, partial, together), workers));
    }
    List<Outcome> outcomes = running.stream().map(CompletableFuture::join).toList();
    return sorted(outcomes, partial);
  }

  private Outcome readOne(
      ShardMap.Collection collection, Part part, boolean partial, ActiveCall together) {
    try {
      return new Outcome(
          part.shard, reader.read(collection, part.shard, part.read, together), null);
    } catch (SagittaException e) {
      if (!(partial && mayBeMissing(e.code()))) {
        together.cancel();
      }
      return new Outcome(part.shard, null, e);
    } catch (InterruptedException e) {
      together.cancel();
      Thread.currentThread().interrupt();
      return new Outcome(
          part.shard, null, new SagittaException(ErrorCode.UNAVAILABLE, "the node stops", e));
    } catch (RuntimeException e) {
      together.cancel();
      return new Outcome(
          part.shard, null, new SagittaException(ErrorCode.INTERNAL, "a read failed", e));
    }
  }

  private static Answers sorted(List<Outcome> outcomes, boolean partial) {
    List<ShardMap.Shard> shards = new ArrayList<>();
    List<ShardAnswer> answers = new ArrayList<>();
    List<ShardMap.Shard> missing = new ArrayList<>();
    SagittaException failure = null;
    for (Outcome outcome : outcomes) {
      if (outcome.failure == null) {
        shards.add(outcome.shard);
        answers.add(outcome.answer);
      } else {
        missing.add(outcome.shard);
        failure = worse(failure, outcome.failure);
      }
    }
    boolean enough =
        failure == null || (partial && mayBeMissing(failure.code()) && !answers.isEmpty());
    if (!enough) {
      answers.forEach(ShardAnswer::close);
      throw failure;
    }
    return new Answers(shards, answers, missing);
  }

  /** The failure to tell: a refusal of the request itself rather than that a shard is away. */
  private static SagittaException worse(SagittaException known, SagittaException found) {
    boolean keep = known != null && (!mayBeMissing(known.code()) || mayBeMissing(found.code()));
    return keep ? known : found;
  }

  private static boolean mayBeMissing(ErrorCode code) {
    return code == ErrorCode.UNAVAILABLE || code == ErrorCode.DEADLINE_EXCEEDED;
  }
}
