// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import io.sagitta.router.Doors;
import io.sagitta.router.RouterOptions;
import io.sagitta.router.routing.LeaderCache;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.routing.ReplicaChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Sends entries to the leaders of shards, again where that is safe, until the deadline.
 *
 * <table>
 *   <caption>What an answer means</caption>
 *   <tr><td>applied, refused, session expired</td><td>the end</td></tr>
 *   <tr><td>stale map, stale schema</td><td>not applied: refresh, draft again, send again</td></tr>
 *   <tr><td>not leader, UNAVAILABLE</td><td>not appended: send to another, after a round pause</td></tr>
 *   <tr><td>OUTCOME_UNKNOWN, DEADLINE_EXCEEDED, any error without a code</td>
 *       <td>perhaps appended: send again only with a key</td></tr>
 *   <tr><td>none, from a node that is gone, or leads no more</td>
 *       <td>perhaps appended, and likewise; without a key it is waited for until the deadline</td></tr>
 *   <tr><td>any other code</td><td>not applied: the end</td></tr>
 * </table>
 *
 * <p>Once an entry may have been appended, a later refusal no longer says that nothing was applied,
 * and is told as OUTCOME_UNKNOWN.
 */
public final class ShardWriter {
  private static final long RETRY_AFTER_MS = 100;

  /** A refusal that asks for such a pause, a full disk, is the answer and not waited out here. */
  private static final long RETRY_LATER_MS = 1_000;

  private final RouterOptions options;
  private final MapCache maps;
  private final LeaderCache leaders;
  private final ReplicaChoice choice;
  private final Doors doors;
  private final Vigil vigil;
  private final AtomicInteger turns = new AtomicInteger();

  public ShardWriter(
      RouterOptions options,
      MapCache maps,
      LeaderCache leaders,
      ReplicaChoice choice,
      Doors doors) {
    this.options = options;
    this.maps = maps;
    this.leaders = leaders;
    this.choice = choice;
    this.doors = doors;
    this.vigil = new Vigil(doors, options.silence());
  }

  /** A write before it is known by which map and schema it is sent. */
  public interface Draft {
    /**
     * The write for the shard as this map has it.
     *
     * @throws SagittaException when the schema has changed so that it cannot be sent any more
     */
    ShardWrite write(ShardMap map, ShardMap.Collection collection, ShardMap.Shard shard);
  }

  /** What became of a write. */
  public sealed interface Result {
    /** It took effect. */
    record Applied(WriteOutcome.Applied outcome) implements Result {}

    /** It did not, or nobody knows: then the code is OUTCOME_UNKNOWN. */
    record Failed(SagittaException error) implements Result {}
  }

  /** A write on its way: sent once, its answer not looked at yet. */
  public final class Sent {
    private final ShardMap.Collection collection;
    private final Draft draft;
    private final ActiveCall call;

    private ShardMap.Shard shard;
    private ShardWrite write;
    private ShardMap.Node node;
    private Attempt<WriteOutcome> attempt;
    private BooleanSupplier superseded;

    /** Replicas not asked in this round yet. */
    private List<ShardMap.Node> left;

    /** Whether an attempt may have been appended. Only ever turns true. */
    private boolean maybeAppended;

    private boolean staleBefore;
    private Exception lastFailure;
    private long pause = options.retryPause().toNanos();

    private Sent(
        ShardMap.Collection collection, ShardMap.Shard shard, Draft draft, ActiveCall call) {
      this.collection = collection;
      this.shard = shard;
      this.draft = draft;
      this.call = call;
    }

    public ShardMap.Shard shard() {
      return shard;
    }

    /** Waits for the answer, sending again where that is safe. */
    public Result result() throws InterruptedException {
      try {
        while (true) {
          Optional<Result> result = attempt == null ? Optional.empty() : look();
          if (result.isPresent()) {
            return result.get();
          }
          if (call.isOver()) {
            return failed(ended());
          }
          sendAgain();
        }
      } catch (SagittaException e) {
        return failed(e);
      }
    }

    private void send(ShardMap map) {
      write = draft.write(map, collection, shard);
      startRound(map);
      sendNext();
    }

    private void startRound(ShardMap map) {
      left = new ArrayList<>(choice.forWrite(map, shard, turns.getAndIncrement()));
    }

    private void sendNext() {
      if (left.isEmpty()) {
        attempt = null;
        return;
      }
      node = left.removeFirst();
      superseded = leaders.succession(shard.id(), node.id());
      attempt = call.start(context -> doors.door(node).write(write, context), outcome -> {});
    }

    /** The end, or empty when it is to be sent again. */
    private Optional<Result> look() throws InterruptedException {
      if (write.key().isPresent() && !vigil.keep(attempt.done(), List.of(node), superseded, call)) {
        attempt.abandon();
        return fail(
            new SagittaException(
                ErrorCode.OUTCOME_UNKNOWN, where() + node.name() + " does not answer"));
      }
      WriteOutcome outcome;
      try {
        outcome = attempt.await();
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        return fail(e);
      }
      return switch (outcome) {
        case WriteOutcome.Applied applied -> {
          leaders.learn(shard.id(), node.id());
          yield Optional.of(new Result.Applied(applied));
        }
        case WriteOutcome.StaleShardMap stale -> {
          followStale("it knows shard map epoch " + stale.shardEpoch());
          yield Optional.empty();
        }
        case WriteOutcome.StaleSchema stale -> {
          followStale("it knows schema version " + stale.shardSchemaVersion());
          yield Optional.empty();
        }
        case WriteOutcome.SessionExpired expired -> Optional.of(expired(expired));
        case WriteOutcome.Refused refused ->
            Optional.of(failed(new SagittaException(refused.code(), where() + refused.message())));
      };
    }

    /**
     * The shard is ahead of this node's map or behind it; either may take a moment to catch up. The
     * node asked leads, so it is asked again.
     */
    private void followStale(String why) throws InterruptedException {
      lastFailure = SagittaException.unavailable(why, RETRY_AFTER_MS);
      if (staleBefore) {
        pause();
      }
      staleBefore = true;
      reroute(refreshed());
      left.addFirst(node);
    }

    private Optional<Result> fail(Exception failure) {
      lastFailure = failure;
      switch (failure) {
        case NotLeaderException notLeader -> {
          leaders.forget(shard.id(), node.id());
          notLeader.leader().ifPresent(leader -> leaders.learn(shard.id(), leader));
          notLeader.leader().ifPresent(this::askNext);
        }
        case SagittaException error -> {
          switch (error.code()) {
            case UNAVAILABLE -> {
              if (isForLater(error)) {
                return Optional.of(failed(error));
              }
              leaders.forget(shard.id(), node.id());
            }
            case OUTCOME_UNKNOWN, DEADLINE_EXCEEDED -> {
              leaders.forget(shard.id(), node.id());
              maybeAppended = true;
            }
            case INVALID_ARGUMENT,
                NOT_FOUND,
                ALREADY_EXISTS,
                CONFLICT,
                LIMIT,
                UNAUTHENTICATED,
                PERMISSION_DENIED,
                SESSION_EXPIRED,
                UNIMPLEMENTED,
                CORRUPT,
                INTERNAL -> {
              return Optional.of(failed(error));
            }
          }
        }
        default -> {
          leaders.forget(shard.id(), node.id());
          maybeAppended = true;
        }
      }
      boolean safe = !maybeAppended || write.key().isPresent();
      return safe ? Optional.empty() : Optional.of(failed(ended()));
    }

    /**
     * Whether trying again is not worth it before the caller has long been waiting for nothing.
     * Only a leader refuses with a pause so long, so that no other replica need be asked.
     */
    private static boolean isForLater(SagittaException refusal) {
      return refusal.retryAfterMs().orElse(0) >= RETRY_LATER_MS;
    }

    /**
     * Moves a node to the front of those left; one that was asked in this round is not asked again.
     */
    private void askNext(NodeId leader) {
      for (int i = 1; i < left.size(); i++) {
        if (left.get(i).id().equals(leader)) {
          left.addFirst(left.remove(i));
          return;
        }
      }
    }

    private void sendAgain() throws InterruptedException {
      if (left.isEmpty()) {
        pause();
        reroute(refreshed());
        startRound(maps.current());
      }
      sendNext();
    }

    private void pause() throws InterruptedException {
      call.pause(pause);
      pause = Math.min(2 * pause, options.retryPauseMax().toNanos());
    }

    private ShardMap refreshed() throws InterruptedException {
      try {
        return maps.refresh(0, call.atMost(options.retryPauseMax().toNanos()));
      } catch (SagittaException e) {
        // The metadata group may be electing too; the map at hand may still be right.
        return maps.current();
      }
    }

    /** Drafts the write for a newer map. */
    private void reroute(ShardMap map) {
      ShardMap.Collection now =
          MapCache.sameIncarnation(map, collection)
              .orElseThrow(
                  () ->
                      SagittaException.notFound(
                          "collection " + Names.quote(collection.name()) + " was dropped"));
      ShardMap.Shard same =
          now.shards().stream()
              .filter(found -> found.id().equals(shard.id()))
              .filter(found -> found.slots().equals(shard.slots()))
              .findFirst()
              .orElseThrow(
                  () ->
                      SagittaException.unavailable(
                          where() + "its slots have moved; send the rows again", RETRY_AFTER_MS));
      shard = same;
      write = draft.write(map, now, same);
    }

    private Result expired(WriteOutcome.SessionExpired expired) {
      String why =
          expired.horizonMs() < 0
              ? "its outcome is not remembered any more, since acked_below has passed its seq or"
                  + " many batches came after it; it may have been applied, and is not applied"
                  + " again"
              : "the writer may have been forgotten; open another with {\"after\": "
                  + expired.horizonMs()
                  + "}";
      return new Result.Failed(new SagittaException(ErrorCode.SESSION_EXPIRED, where() + why));
    }

    private SagittaException ended() {
      if (maybeAppended) {
        return new SagittaException(
            ErrorCode.OUTCOME_UNKNOWN, where() + "no answer: " + text(lastFailure), lastFailure);
      }
      return new SagittaException(
          ErrorCode.UNAVAILABLE,
          where() + "not applied: " + text(lastFailure),
          RETRY_AFTER_MS,
          lastFailure);
    }

    /** The error as it may be told, now that an earlier attempt may have been appended. */
    private Result failed(SagittaException error) {
      if (!maybeAppended || error.code() == ErrorCode.OUTCOME_UNKNOWN) {
        return new Result.Failed(error);
      }
      return new Result.Failed(
          new SagittaException(
              ErrorCode.OUTCOME_UNKNOWN,
              where() + "perhaps applied before it was refused: " + error.getMessage(),
              error));
    }

    private String where() {
      return "shard " + shard.number() + " of " + Names.quote(collection.name()) + ": ";
    }

    private static String text(Exception failure) {
      return failure == null
          ? "no replica is known"
          : failure instanceof TimeoutException ? "the deadline has passed" : failure.getMessage();
    }
  }

  /**
   * Sends a write for the first time. Does not wait: entries that are sent one after the other from
   * one thread reach a leader in this process in that order.
   *
   * @throws SagittaException when the write cannot be drafted
   */
  public Sent send(
      ShardMap map,
      ShardMap.Collection collection,
      ShardMap.Shard shard,
      Draft draft,
      ActiveCall call) {
    Sent sent = new Sent(collection, shard, draft, call);
    sent.send(map);
    return sent;
  }
}
