// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.NodeId;
import io.sagitta.model.ReadMode;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.Reason;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcomeCodec;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import io.sagitta.raft.VoterTerm;
import io.sagitta.shard.Candidates;
import io.sagitta.shard.ReadResult;
import io.sagitta.shard.ReadStats;
import io.sagitta.shard.ShardInit;
import io.sagitta.shard.ShardView;
import io.sagitta.shard.StopSignal;
import io.sagitta.shard.log.ShardEntries;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;

/**
 * This process's shards, as the router and other nodes see them.
 *
 * <p>A write: admitted (nothing is logged of what is refused) -> encoded with the leader's clock ->
 * proposed -> its outcome as apply decided it. A read: fresh enough -> a view -> searched on the
 * search pool, never on a Raft or network thread.
 */
public final class LocalShards implements ShardDoor {
  /** The longest that one write waits for the indexer. */
  private static final long PAUSE_MAX_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final RaftHost host;
  private final Replicas replicas;
  private final Scrub scrub;
  private final Admission admission;
  private final Freshness freshness;
  private final Predicate<ShardId> alone;
  private final Executor searchPool;
  private final ScheduledExecutorService pace;
  private final BufferAllocator answers;
  private final InstantSource clock;
  private final Supplier<String> nodeName;
  private final LongAdder slowedNanos = new LongAdder();

  /**
   * The shards of this process.
   *
   * @param scrub told of reads that failed as bad bytes would have them fail
   * @param alone whether a shard has no replica but the one here
   * @param searchPool bounded; it refuses with RejectedExecutionException when its queue is full
   * @param pace proposes writes that had to wait for the indexer
   * @param answers memory of answers
   * @param clock stamps entries
   * @param nodeName what certificates call this node
   */
  public LocalShards(
      RaftHost host,
      Replicas replicas,
      Scrub scrub,
      Admission admission,
      Predicate<ShardId> alone,
      Executor searchPool,
      ScheduledExecutorService pace,
      BufferAllocator answers,
      InstantSource clock,
      Supplier<String> nodeName) {
    this.host = host;
    this.replicas = replicas;
    this.scrub = scrub;
    this.admission = admission;
    this.alone = alone;
    this.freshness = new Freshness(host, System::nanoTime);
    this.searchPool = searchPool;
    this.pace = pace;
    this.answers = answers;
    this.clock = clock;
    this.nodeName = nodeName;
  }

  // ---- writes --------------------------------------------------------------------------------

  @Override
  public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
    try {
      ShardReplica replica = require(write.shard());
      return switch (write) {
        case ShardWrite.Rows rows ->
            propose(
                replica,
                ShardEntries.rows(rows, clock.millis()),
                rows.mode() == WriteMode.DELETE,
                rows.mode() == WriteMode.DELETE ? 0 : rows.rows().rows(),
                call);
        case ShardWrite.DeleteWhere delete ->
            resolve(replica, delete.filter(), call)
                .thenCompose(
                    found ->
                        propose(
                            replica,
                            ShardEntries.deleteWhere(delete, found, clock.millis()),
                            true,
                            0,
                            call));
        case ShardWrite.SetWhere set ->
            resolve(replica, set.filter(), call)
                .thenCompose(
                    found ->
                        propose(
                            replica,
                            ShardEntries.setWhere(set, found, clock.millis()),
                            false,
                            0,
                            call));
      };
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(RaftFailures.translate(e, leader(write.shard()), true));
    }
  }

  /**
   * The points a filter matches now, found off the apply thread, which only rechecks newer ones.
   */
  private CompletableFuture<Candidates> resolve(
      ShardReplica replica, FilterText filter, CallContext call) {
    return onSearchPool(
        replica,
        () -> {
          try (ShardView view = replica.shard().view()) {
            return view.resolve(filter, answers, stopSignal(call));
          }
        });
  }

  /**
   * Proposes an entry that is let in.
   *
   * @param vectors rows that it brings, whose vectors will have to be indexed
   */
  private CompletableFuture<WriteOutcome> propose(
      ShardReplica replica, ByteBuffer entry, boolean delete, int vectors, CallContext call) {
    long left = left(call).toMillis();
    if (left <= 0) {
      // Nothing was proposed, and saying so is worth more to the caller than the late answer.
      return CompletableFuture.failedFuture(
          SagittaException.unavailable("the call's time was over before the write began", 0));
    }
    Admission.Ticket ticket = admit(replica, entry.remaining(), delete);
    return afterPause(
            pauseNanos(replica, vectors, left),
            () -> host.submit(new GroupId(replica.id().value()), entry))
        .whenComplete((committed, failure) -> ticket.close())
        .orTimeout(left, TimeUnit.MILLISECONDS)
        .handle(
            (committed, failure) -> {
              if (failure != null) {
                throw RaftFailures.translate(failure, leader(replica.id()), true);
              }
              return WriteOutcomeCodec.decode(ByteBuffer.wrap(committed.outcome()));
            });
  }

  private long pauseNanos(ShardReplica replica, int vectors, long leftMs) {
    if (vectors == 0) {
      return 0;
    }
    long pauseMax = Math.min(PAUSE_MAX_NANOS, TimeUnit.MILLISECONDS.toNanos(leftMs) / 4);
    long pause =
        replica
            .pace()
            .pauseNanos(vectors, replica.shard().indexer().lag(), System.nanoTime(), pauseMax);
    slowedNanos.add(pause);
    return pause;
  }

  private <T> CompletableFuture<T> afterPause(long nanos, Supplier<CompletableFuture<T>> work) {
    if (nanos == 0) {
      return work.get();
    }
    CompletableFuture<Void> due = new CompletableFuture<>();
    try {
      var _ = pace.schedule(() -> due.complete(null), nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      due.completeExceptionally(SagittaException.unavailable("the node stops", 0));
    }
    return due.thenCompose(ignored -> work.get());
  }

  /** Milliseconds that writes have waited for the indexer since start, taken together. */
  public long slowedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(slowedNanos.sum());
  }

  /** A refusal is the leader's word: where this replica does not lead, another may have room. */
  private Admission.Ticket admit(ShardReplica replica, int bytes, boolean delete) {
    try {
      return admission.admit(replica.shard(), () -> voters(replica.id()), bytes, delete);
    } catch (SagittaException refusal) {
      if (host.status(new GroupId(replica.id().value()))
          .filter(GroupStatus::leaderReady)
          .isEmpty()) {
        throw new NotLeaderException(
            "the shard is not led here, and " + refusal.getMessage(), leader(replica.id()));
      }
      throw refusal;
    }
  }

  /** Proposes a shard's first entry where this process leads it and there is none yet. */
  public CompletableFuture<Void> initialise(ShardInit init) {
    Optional<ShardReplica> replica = replicas.find(init.shard());
    if (replica.isPresent() && replica.get().initialised()) {
      return CompletableFuture.completedFuture(null);
    }
    return host.submit(new GroupId(init.shard().value()), ShardEntries.init(init, clock.millis()))
        .handle(
            (committed, failure) -> {
              if (failure != null) {
                throw RaftFailures.translate(failure, leader(init.shard()), true);
              }
              return null;
            });
  }

  // ---- reads ---------------------------------------------------------------------------------

  @Override
  public CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call) {
    try {
      ShardReplica replica = require(read.shard());
      Duration left = left(call);
      if (left.isNegative() || left.isZero()) {
        throw new SagittaException(ErrorCode.DEADLINE_EXCEEDED, "the call's time is over");
      }
      return freshness
          .await(read.shard(), read.mode(), voter(call), left)
          .thenCompose(fresh -> onSearchPool(replica, () -> answer(replica, read, call)))
          .exceptionally(
              failure -> {
                throw RaftFailures.translate(failure, leader(read.shard()), false);
              });
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(RaftFailures.translate(e, leader(read.shard()), false));
    }
  }

  private static Optional<VoterTerm> voter(CallContext call) {
    return call.askerTerm().map(known -> new VoterTerm(known.asker().toString(), known.term()));
  }

  private ShardAnswer answer(ShardReplica replica, ShardRead read, CallContext call) {
    StopSignal stop = stopSignal(call);
    stop.check();
    try (ShardView view = replica.shard().view()) {
      ReadResult result =
          switch (read) {
            case ShardRead.Search search -> view.search(search, answers, stop);
            case ShardRead.Get get -> view.get(get, answers, stop);
            case ShardRead.Scan scan -> view.scan(scan, answers, stop);
            case ShardRead.Count count -> view.count(count, answers, stop);
          };
      ReadStats stats = result.stats();
      return new ShardAnswer(
          new ReadStamp(
              read.shard(),
              view.index(),
              nodeName.get(),
              stats.exact(),
              stats.graph(),
              stats.masked(),
              stats.twoHop(),
              stats.scan(),
              stats.visited(),
              stats.recallPlanned(),
              stats.more(),
              stats.explain()),
          result.rows());
    }
  }

  private <T> CompletableFuture<T> onSearchPool(ShardReplica replica, Supplier<T> work) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return work.get();
          } catch (SagittaException expected) {
            throw expected;
          } catch (RuntimeException | Error e) {
            scrub.suspect(replica);
            throw e;
          }
        },
        searchPool);
  }

  private static StopSignal stopSignal(CallContext call) {
    return () -> {
      if (call.cancelled().get()) {
        throw SagittaException.unavailable("the caller has gone", 0);
      }
      if (System.nanoTime() - call.deadlineNanos() > 0) {
        throw new SagittaException(ErrorCode.DEADLINE_EXCEEDED, "the call's time is over");
      }
    };
  }

  private static Duration left(CallContext call) {
    return Duration.ofNanos(call.deadlineNanos() - System.nanoTime());
  }

  /** Forgets what is remembered of a shard that has been removed from here. */
  public void forget(ShardId shard) {
    freshness.forget(shard);
  }

  /**
   * The replica here.
   *
   * @throws SagittaException CORRUPT, naming the file, where it is damaged and there is no other;
   *     else UNAVAILABLE where it is not here or has not begun
   */
  private ShardReplica require(ShardId shard) {
    Optional<String> damage = damage(shard);
    if (damage.isPresent()) {
      throw new SagittaException(
          alone.test(shard) ? ErrorCode.CORRUPT : ErrorCode.UNAVAILABLE,
          "shard " + shard + " on " + nodeName.get() + " is damaged: " + damage.get());
    }
    return replicas.require(shard);
  }

  /** What is damaged of the replica here, if anything is known to be. */
  private Optional<String> damage(ShardId shard) {
    return host.status(new GroupId(shard.value()))
        .filter(GroupStatus::damaged)
        .map(status -> status.failure().orElse("its log says how"));
  }

  // ---- what the node asks --------------------------------------------------------------------

  /**
   * A digest of a replica's live rows, of a view at {@code minIndex} or later, with its files
   * checked before. Blocks.
   *
   * @throws SagittaException CORRUPT where the replica is damaged, whether there are others or not;
   *     UNAVAILABLE where it is not here, has stopped, or does not come so far in time
   */
  public Digest digest(ShardId shard, long minIndex, Duration timeout) {
    Optional<String> damage = damage(shard);
    if (damage.isPresent()) {
      throw new SagittaException(ErrorCode.CORRUPT, damage.get());
    }
    Optional<String> failure =
        host.status(new GroupId(shard.value())).flatMap(GroupStatus::failure);
    if (failure.isPresent() && replicas.find(shard).isEmpty()) {
      throw SagittaException.unavailable("the replica has stopped: " + failure.get(), 0);
    }
    ShardReplica replica = replicas.require(shard);
    scrub.verify(replica);
    awaitApplied(shard, minIndex, timeout);
    try (ShardView view = replica.shard().view()) {
      long rows;
      try (ReadResult count =
          view.count(
              new ShardRead.Count(shard, ReadMode.ANY, Optional.empty()),
              answers,
              StopSignal.NEVER)) {
        rows = ((BigIntVector) count.rows().getVector("count")).get(0);
      }
      return new Digest(view.index(), rows, view.digest());
    }
  }

  private void awaitApplied(ShardId shard, long index, Duration timeout) {
    GroupId group = new GroupId(shard.value());
    try {
      host.awaitApplied(group, index, timeout).join();
    } catch (CompletionException e) {
      Throwable cause = FlightErrors.unwrap(e);
      throw new SagittaException(
          ErrorCode.UNAVAILABLE,
          "the replica has come to log index "
              + host.status(group).map(GroupStatus::appliedIndex).orElse(-1L)
              + ", asked for "
              + index
              + (cause instanceof TimeoutException ? "" : ": " + Reason.of(cause)),
          200,
          cause);
    }
  }

  /** What a replica holds at a log index. */
  public record Digest(long index, long rows, byte[] bytes) {}

  /** A read barrier at a shard hosted here. */
  public CompletableFuture<Long> barrier(ShardId shard, Duration timeout) {
    return host.readBarrier(new GroupId(shard.value()), timeout);
  }

  /** This process's term of a shard's group, read now, where it votes. */
  public Optional<Long> term(ShardId shard) {
    GroupId group = new GroupId(shard.value());
    return Optional.ofNullable(host.terms(List.of(group)).get(group));
  }

  private List<NodeId> voters(ShardId shard) {
    return host.status(new GroupId(shard.value())).stream()
        .flatMap(status -> status.voters().stream())
        .map(peer -> NodeId.parse(peer.id()))
        .toList();
  }

  /** The leader of a shard hosted here, as last heard. */
  public Optional<NodeId> leader(ShardId shard) {
    return host.status(new GroupId(shard.value())).flatMap(GroupStatus::leader).map(NodeId::parse);
  }
}
