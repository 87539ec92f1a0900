// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Peer;
import io.sagitta.raft.TermProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;

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
 *   <li>asks every other voter of C for its current term;
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
 *       its term above T before it voted, that is before t0; it was asked after t0; a term never
 *       goes down, not even by a power cut (see {@link PeerGate}). It would have answered a higher
 *       term.
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
 * <p><b>Cost.</b> None with one voter. Else one probe to each peer serves all groups and all asks
 * of about a millisecond: asks collect, and everything above is done once for each group after they
 * were collected. If the probes find no majority in time (the internal service may be down while
 * Raft is not), a no-op entry stands in: its index, once committed in T, is a barrier by itself.
 */
final class ReadBarrier {
  private static final long BATCH_NANOS = 1_000_000;
  private static final int ROUNDS_MAX = 3;

  private final RaftPeerId self;
  private final TermProbe probe;
  private final RaftResources resources;
  private final Duration probeTimeout;
  private final Function<HostedGroup, CompletableFuture<Long>> noop;
  private final boolean planted;
  private final AtomicLong barriers = new AtomicLong();
  private final AtomicLong probes = new AtomicLong();

  // Guarded by this.
  private List<Ask> collected = new ArrayList<>();
  private boolean scheduled;
  private long lastRoundNanos = System.nanoTime();

  private record Ask(HostedGroup group, int round, CompletableFuture<Long> answer) {}

  /**
   * Makes the barrier of a host.
   *
   * @param noop proposes a no-op entry and answers its index
   * @param planted leave out steps 3 and 4: a fault planted for tests
   */
  ReadBarrier(
      RaftPeerId self,
      TermProbe probe,
      RaftResources resources,
      Duration probeTimeout,
      Function<HostedGroup, CompletableFuture<Long>> noop,
      boolean planted) {
    this.self = self;
    this.probe = probe;
    this.resources = resources;
    this.probeTimeout = probeTimeout;
    this.noop = noop;
    this.planted = planted;
  }

  /** Fails with {@link NotLeader}, or with a TimeoutException. */
  CompletableFuture<Long> ask(HostedGroup group, Duration timeout) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    collect(new Ask(group, 1, answer));
    return answer.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  long barriers() {
    return barriers.get();
  }

  long probes() {
    return probes.get();
  }

  private void collect(Ask ask) {
    long delay;
    synchronized (this) {
      collected.add(ask);
      if (scheduled) {
        return;
      }
      scheduled = true;
      delay = Math.max(0, lastRoundNanos + BATCH_NANOS - System.nanoTime());
    }
    if (delay == 0) {
      resources.completions.execute(this::runRounds);
    } else {
      var _ = resources.scheduler.schedule(this::runRounds, delay, TimeUnit.NANOSECONDS);
    }
  }

  private void runRounds() {
    Map<HostedGroup, List<Ask>> byGroup = new LinkedHashMap<>();
    synchronized (this) {
      for (Ask ask : collected) {
        byGroup.computeIfAbsent(ask.group(), g -> new ArrayList<>()).add(ask);
      }
      collected = new ArrayList<>();
      scheduled = false;
      lastRoundNanos = System.nanoTime();
    }
    // Everything that a round reads is read from here on, after its asks have arrived.
    List<Round> rounds = new ArrayList<>();
    byGroup.forEach(
        (group, asks) -> {
          try {
            Round round = new Round(group, asks);
            rounds.add(round);
          } catch (NotLeader e) {
            asks.forEach(ask -> ask.answer().completeExceptionally(e));
          }
        });
    Map<Peer, List<Round>> byPeer = new HashMap<>();
    for (Round round : rounds) {
      if (planted || round.settled()) {
        round.conclude();
      } else {
        round.others.forEach(p -> byPeer.computeIfAbsent(p, k -> new ArrayList<>()).add(round));
      }
    }
    byPeer.forEach(this::probe);
  }

  private void probe(Peer peer, List<Round> rounds) {
    List<GroupId> groups = rounds.stream().map(r -> r.group.id()).toList();
    probes.incrementAndGet();
    CompletableFuture<Map<GroupId, Long>> terms;
    try {
      terms = probe.terms(peer, groups, probeTimeout);
    } catch (RuntimeException e) {
      terms = CompletableFuture.failedFuture(e);
    }
    var _ =
        terms
            .orTimeout(probeTimeout.toNanos(), TimeUnit.NANOSECONDS)
            .whenCompleteAsync(
                (found, failure) ->
                    rounds.forEach(
                        r -> r.answered(peer, failure == null ? found.get(r.group.id()) : null)),
                resources.completions);
  }

  private static Peer peerOf(RaftPeer peer) {
    return new Peer(peer.getId().toString(), peer.getAddress());
  }

  /** All asks for one group that are answered together. */
  private final class Round {
    final HostedGroup group;
    final List<Ask> asks;
    final RaftServer.Division division;
    final long term;
    final RaftConfiguration configuration;
    final long commitIndex;
    final Set<Peer> others = new HashSet<>();

    // Guarded by this.
    private final Set<RaftPeerId> confirmed = new HashSet<>();
    private int outstanding;
    private boolean done;

    Round(HostedGroup group, List<Ask> asks) {
      this.group = group;
      this.asks = asks;
      this.division = group.division().orElseThrow(() -> notLeader("stopped"));
      DivisionInfo info = division.getInfo();
      this.term = info.getCurrentTerm();
      if (!info.isLeader() || !info.isLeaderReady()) {
        throw notLeader("not a ready leader");
      }
      this.configuration = division.getRaftConf();
      this.commitIndex = division.getRaftLog().getLastCommittedIndex();
      confirmed.add(self);
      collectOthers(configuration.getCurrentPeers());
      collectOthers(configuration.getPreviousPeers());
      outstanding = others.size();
    }

    private void collectOthers(Collection<RaftPeer> peers) {
      for (RaftPeer peer : peers) {
        if (!peer.getId().equals(self)) {
          others.add(peerOf(peer));
        }
      }
    }

    synchronized boolean settled() {
      return majority(configuration.getCurrentPeers())
          && (configuration.getPreviousPeers().isEmpty()
              || majority(configuration.getPreviousPeers()));
    }

    private boolean majority(Collection<RaftPeer> voters) {
      long yes = voters.stream().filter(v -> confirmed.contains(v.getId())).count();
      return 2 * yes > voters.size();
    }

    void answered(Peer peer, Long itsTerm) {
      boolean conclude;
      synchronized (this) {
        if (done) {
          return;
        }
        outstanding--;
        if (itsTerm != null && itsTerm > term) {
          done = true;
          fail(notLeader("voter " + peer.id() + " is in term " + itsTerm + ", past " + term));
          return;
        }
        if (itsTerm != null && itsTerm == term) {
          confirmed.add(RaftPeerId.valueOf(peer.id()));
        }
        conclude = settled();
        if (!conclude && outstanding > 0) {
          return;
        }
        done = true;
      }
      if (conclude) {
        conclude();
      } else {
        standIn();
      }
    }

    /** Step 5. */
    void conclude() {
      DivisionInfo info = division.getInfo();
      boolean same =
          info.isLeader()
              && info.isLeaderReady()
              && info.getCurrentTerm() == term
              && group.division().filter(division::equals).isPresent();
      if (!same) {
        fail(notLeader("leadership of term " + term + " was lost meanwhile"));
      } else if (!division.getRaftConf().equals(configuration)) {
        again();
      } else {
        barriers.addAndGet(asks.size());
        asks.forEach(ask -> ask.answer().complete(commitIndex));
      }
    }

    /** The configuration changed under the round. */
    private void again() {
      for (Ask ask : asks) {
        if (ask.round() < ROUNDS_MAX) {
          collect(new Ask(group, ask.round() + 1, ask.answer()));
        } else {
          ask.answer().completeExceptionally(notLeader("its voters keep changing"));
        }
      }
    }

    /** No majority of answers: an entry of this term, once committed, proves the same. */
    private void standIn() {
      var _ =
          noop.apply(group)
              .whenComplete(
                  (index, failure) -> {
                    if (failure == null) {
                      barriers.addAndGet(asks.size());
                      asks.forEach(ask -> ask.answer().complete(index));
                    } else {
                      fail(
                          new NotLeader(
                              "group " + group.id() + ": barrier not confirmed", failure));
                    }
                  });
    }

    private void fail(NotLeader e) {
      asks.forEach(ask -> ask.answer().completeExceptionally(e));
    }

    private NotLeader notLeader(String why) {
      return new NotLeader("group " + group.id() + ": " + why);
    }
  }
}
