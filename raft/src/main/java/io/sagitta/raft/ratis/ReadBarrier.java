// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Peer;
import io.sagitta.raft.TermProbe;
import io.sagitta.raft.VoterTerm;
import io.sagitta.raft.ratis.BarrierRound.Ask;
import io.sagitta.raft.ratis.BarrierRound.Next;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The barrier of strong reads, on the leader.
 *
 * <p><b>What it promises.</b> If the barrier, asked at time t0, answers c, then a view of the state
 * at or above index c holds every write that was acknowledged before t0.
 *
 * <p><b>What it does</b>, in this order and after the ask has arrived:
 *
 * <ol>
 *   <li>reads term T and sees that this peer leads and is ready (an entry of T is applied here);
 *   <li>reads the configuration C, then the commit index c;
 *   <li>learns the present terms of other voters of C, each read after t0;
 *   <li>waits until T has come back from a majority of C's voters and, while C is joint, also of
 *       the previous ones (this peer counts where it is a voter, listeners never), and gives up on
 *       any higher term;
 *   <li>sees that this peer still leads and is ready, in T, with configuration C.
 * </ol>
 *
 * <p><b>Why that is enough.</b> Let w be a write acknowledged before t0, committed in term W.
 *
 * <ul>
 *   <li>W = T: this peer acknowledged it after its own commit index had passed it, so w is at or
 *       below c.
 *   <li>W &lt; T: w is in this leader's log (leader completeness) before its first entry of T.
 *       Being ready, it has committed an entry of T, so w is below c.
 *   <li>W &gt; T cannot be. A leader of a term above T was then elected before t0; take the first
 *       such election, by votes of a quorum of a configuration D in the elected peer's log. D is in
 *       this peer's log too, for the elected peer got it from leaders of terms up to T, and is C or
 *       stands next to C in the one-step chain old, joint, new; if C is "new" then "joint" is
 *       committed and no peer can be elected by "old" any more, if C is "joint" both majorities are
 *       asked. Either way the quorum shares a voter with those who answered. That voter had raised
 *       its term above T before it voted, that is before t0; its term was read after t0; a term
 *       never goes down, not even by a power cut (see {@link PeerGate}). It would have answered a
 *       higher term.
 * </ul>
 *
 * <p>(Where a lone voter takes in a second, Ratis lets it elect itself while the configuration is
 * joint; the quorum is then this peer, whose own term step 5 reads after t0.)
 *
 * <p>Step 5 repeats the look because steps 1 and 2 are several reads: term, role and configuration
 * were then the same throughout. No clock is trusted; a paused leader is merely late. Ratis' own
 * ReadIndex is not used: on an idle group it skips the check, and its lease can be outlived by an
 * election.
 *
 * <p><b>Whose term, and when it is read.</b> The argument needs two things of a term: that it is a
 * voter's own, and that it was read after t0. It does not need this peer to have asked for it, nor
 * that it was read after c. So where the ask came from another node that votes itself, which read
 * its term once the client's call had reached it and sent it along ({@link VoterTerm}), that term
 * counts: with three voters it completes the majority, and no question is sent. It counts for its
 * own ask alone; another's may have come later than it was read.
 *
 * <p><b>Sharing.</b> Otherwise voters are asked, and one message to a peer serves all groups and
 * all asks that had arrived <em>before</em> it was made; steps 1 and 2 are done once for each group
 * after its asks were collected. An ask that arrives when a message has just left never shares it,
 * since the terms it brings may have been read before the ask's t0. Such asks collect while {@link
 * #OPEN_MAX} messages are on their way, and leave together with the next one: when an answer has
 * come, or after a millisecond. So a lone reader waits for nobody, and a thousand send few
 * messages.
 *
 * <p><b>Whom.</b> As many voters as a majority needs, first those who answer soonest ({@link
 * PeerPace}); the rest only if one of them fails, is behind, or takes longer than it usually does.
 * Asking fewer changes nothing in the argument, which is about those who answer. If the probes find
 * no majority in time (the internal service may be down while Raft is not), a no-op entry stands
 * in: its index, once committed in T, is a barrier by itself.
 */
final class ReadBarrier {
  /** Messages on their way at a time, of those that have had no answer for less than SHARE. */
  static final int OPEN_MAX = 2;

  /** How long an ask waits at most for others' messages to be answered. */
  static final long SHARE_NANOS = 1_000_000;

  private static final int TRIES_MAX = 3;

  /** Runs a task later; on any thread. */
  interface Timer {
    void after(long nanos, Runnable task);
  }

  private final String self;
  private final TermProbe probe;
  private final Duration probeTimeout;
  private final boolean planted;
  private final Executor executor;
  private final Timer timer;
  private final LongSupplier nanoTime;
  private final PeerPace pace = new PeerPace();
  private final AtomicLong barriers = new AtomicLong();
  private final AtomicLong probes = new AtomicLong();

  // Guarded by this.
  private List<Ask> collected = new ArrayList<>();
  private boolean sending;
  private int open;
  private long sentAtNanos;
  private boolean wakes;
  private final List<BarrierRound> waiting = new ArrayList<>();
  private boolean ticks;
  private long tickAtNanos;

  /**
   * Makes the barrier of a host.
   *
   * @param self peer id
   * @param probeTimeout how long voters may take before an entry stands in
   * @param executor runs what a caller has no time for
   * @param planted leave out steps 3 and 4: a fault planted for tests
   */
  ReadBarrier(
      String self,
      TermProbe probe,
      Duration probeTimeout,
      boolean planted,
      Executor executor,
      Timer timer,
      LongSupplier nanoTime) {
    this.self = self;
    this.probe = probe;
    this.probeTimeout = probeTimeout;
    this.planted = planted;
    this.executor = executor;
    this.timer = timer;
    this.nanoTime = nanoTime;
  }

  /**
   * Asks. Fails with {@link NotLeader}, or with a TimeoutException.
   *
   * @param told another voter's term, read after the read had been asked for
   */
  CompletableFuture<Long> ask(Led group, Optional<VoterTerm> told, Duration timeout) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    Ask ask = new Ask(group, 1, nanoTime.getAsLong() + timeout.toNanos(), answer);
    try {
      BarrierRound alone = new BarrierRound(self, group, List.of(ask));
      told.ifPresent(alone::told);
      if (planted || alone.isConfirmed()) {
        conclude(alone);
      } else {
        collect(ask);
      }
    } catch (NotLeader e) {
      answer.completeExceptionally(e);
    }
    return answer;
  }

  long barriers() {
    return barriers.get();
  }

  long probes() {
    return probes.get();
  }

  // ---- collecting

  private void collect(Ask ask) {
    synchronized (this) {
      collected.add(ask);
      if (!maySendLocked()) {
        return;
      }
    }
    sendCollected();
  }

  /** Whether the caller is to send what has been collected; if not, somebody will. */
  private boolean maySendLocked() {
    if (sending || collected.isEmpty()) {
      return false;
    }
    if (open >= OPEN_MAX) {
      wakeLocked();
      return false;
    }
    sending = true;
    return true;
  }

  private void wakeLocked() {
    if (!wakes) {
      wakes = true;
      long since = nanoTime.getAsLong() - sentAtNanos;
      timer.after(Math.max(0, SHARE_NANOS - since), this::wake);
    }
  }

  private void wake() {
    synchronized (this) {
      wakes = false;
      if (sending || collected.isEmpty()) {
        return;
      }
      sending = true;
    }
    sendCollected();
  }

  private void sendCollected() {
    List<Ask> asks;
    synchronized (this) {
      asks = collected;
      collected = new ArrayList<>();
      open++;
      sentAtNanos = nanoTime.getAsLong();
    }
    try {
      send(asks);
    } finally {
      boolean more;
      synchronized (this) {
        sending = false;
        more = maySendLocked();
      }
      if (more) {
        // Whoever came here to ask has its own answer to wait for.
        executor.execute(this::sendCollected);
      }
    }
  }

  /** What was sent together counts as one message on its way until somebody has answered. */
  private final class Sent {
    private boolean answered; // under the barrier

    void answered() {
      boolean more;
      synchronized (ReadBarrier.this) {
        if (answered) {
          return;
        }
        answered = true;
        open--;
        more = maySendLocked();
      }
      if (more) {
        sendCollected();
      }
    }
  }

  // ---- asking voters

  private void send(List<Ask> asks) {
    // Everything that a round reads is read from here on, after its asks have arrived.
    List<BarrierRound> rounds = new ArrayList<>();
    Map<Led, List<Ask>> byGroup = new LinkedHashMap<>();
    for (Ask ask : asks) {
      byGroup.computeIfAbsent(ask.group(), g -> new ArrayList<>()).add(ask);
    }
    byGroup.forEach(
        (group, together) -> {
          try {
            rounds.add(new BarrierRound(self, group, together));
          } catch (NotLeader e) {
            together.forEach(ask -> ask.answer().completeExceptionally(e));
          }
        });
    long now = nanoTime.getAsLong();
    Sent sent = new Sent();
    Map<Peer, List<BarrierRound>> byPeer = new LinkedHashMap<>();
    for (BarrierRound round : rounds) {
      if (round.isConfirmed()) {
        conclude(round);
        continue;
      }
      for (Peer peer : round.begin(pace, now, now + probeTimeout.toNanos())) {
        byPeer.computeIfAbsent(peer, p -> new ArrayList<>()).add(round);
      }
      await(round, now);
    }
    byPeer.forEach((peer, of) -> probe(peer, of, sent));
    if (byPeer.isEmpty()) {
      sent.answered();
    }
  }

  private void askRest(List<BarrierRound> rounds) {
    Map<Peer, List<BarrierRound>> byPeer = new LinkedHashMap<>();
    for (BarrierRound round : rounds) {
      for (Peer peer : round.takeRest()) {
        byPeer.computeIfAbsent(peer, p -> new ArrayList<>()).add(round);
      }
    }
    Sent alreadyCounted = new Sent();
    alreadyCounted.answered = true;
    byPeer.forEach((peer, of) -> probe(peer, of, alreadyCounted));
  }

  private void probe(Peer peer, List<BarrierRound> rounds, Sent sent) {
    List<GroupId> groups = rounds.stream().map(BarrierRound::id).toList();
    probes.incrementAndGet();
    long began = nanoTime.getAsLong();
    CompletableFuture<Map<GroupId, Long>> terms;
    try {
      terms = probe.terms(peer, groups, probeTimeout);
    } catch (RuntimeException e) {
      terms = CompletableFuture.failedFuture(e);
    }
    var _ =
        terms.whenComplete(
            (found, failure) -> {
              if (failure == null) {
                pace.answered(peer, nanoTime.getAsLong() - began);
              } else {
                pace.failed(peer);
              }
              heard(peer, rounds, failure == null ? found : Map.of());
              sent.answered();
            });
  }

  private void heard(Peer peer, List<BarrierRound> rounds, Map<GroupId, Long> terms) {
    List<BarrierRound> unsure = new ArrayList<>();
    for (BarrierRound round : rounds) {
      act(round, round.heard(peer, terms.get(round.id())), unsure);
    }
    askRest(unsure);
  }

  private void act(BarrierRound round, Next next, List<BarrierRound> askRest) {
    switch (next) {
      case WAIT -> {}
      case CONCLUDE -> conclude(round);
      case ASK_THE_REST -> askRest.add(round);
      case STAND_IN -> standIn(round);
    }
  }

  /** Step 5. */
  private void conclude(BarrierRound round) {
    List<Ask> again = round.conclusion(TRIES_MAX);
    for (Ask ask : round.asks()) {
      if (ask.answer().state() == Future.State.SUCCESS) {
        barriers.incrementAndGet();
      }
    }
    again.forEach(this::collect);
  }

  /** No majority of answers: an entry of this term, once committed, proves the same. */
  private void standIn(BarrierRound round) {
    long now = nanoTime.getAsLong();
    for (Ask ask : round.asks()) {
      timer.after(Math.max(0, ask.deadlineNanos() - now), () -> round.due(ask.deadlineNanos()));
    }
    var _ =
        round
            .group()
            .noop()
            .whenComplete(
                (index, failure) -> {
                  if (failure == null) {
                    barriers.addAndGet(round.asks().size());
                    round.answer(index);
                  } else {
                    round.fail(
                        new NotLeader("group " + round.id() + ": barrier not confirmed", failure));
                  }
                });
  }

  // ---- time: one timer for all rounds, set only while there are some

  private synchronized void await(BarrierRound round, long nowNanos) {
    waiting.add(round);
    tickByLocked(round.dueAtNanos(nowNanos), nowNanos);
  }

  private void tickByLocked(long atNanos, long nowNanos) {
    if (!ticks || atNanos - tickAtNanos < 0) {
      ticks = true;
      tickAtNanos = atNanos;
      timer.after(Math.max(0, atNanos - nowNanos), () -> tick(atNanos));
    }
  }

  private void tick(long setForNanos) {
    List<BarrierRound> looked;
    synchronized (this) {
      if (!ticks || setForNanos != tickAtNanos) {
        return; // an earlier one was set since
      }
      ticks = false;
      waiting.removeIf(BarrierRound::isOver);
      looked = List.copyOf(waiting);
    }
    long now = nanoTime.getAsLong();
    List<BarrierRound> late = new ArrayList<>();
    for (BarrierRound round : looked) {
      act(round, round.due(now), late);
    }
    late.forEach(round -> round.silent().forEach(pace::failed));
    askRest(late);
    synchronized (this) {
      waiting.removeIf(BarrierRound::isOver);
      for (BarrierRound round : waiting) {
        tickByLocked(round.dueAtNanos(now), now);
      }
    }
  }
}
