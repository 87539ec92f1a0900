// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Peer;
import io.sagitta.raft.VoterTerm;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

/**
 * All asks for one group that are answered together: what was seen of the group after they had
 * arrived, and which voters have confirmed it since. It sends nothing and knows no clock; {@link
 * ReadBarrier} does what it says is to be done.
 */
final class BarrierRound {
  /**
   * One caller.
   *
   * @param tries rounds it has been part of, this one included
   * @param deadlineNanos when the caller no longer waits
   */
  record Ask(Led group, int tries, long deadlineNanos, CompletableFuture<Long> answer) {
    Ask again() {
      return new Ask(group, tries + 1, deadlineNanos, answer);
    }
  }

  /** What is to be done now. */
  enum Next {
    /** Nothing: answers are awaited, or this is over. */
    WAIT,
    /** A majority has confirmed: {@link #conclusion}. */
    CONCLUDE,
    /** Those not asked yet are to be asked. */
    ASK_THE_REST,
    /** Nobody is left to ask: an entry has to stand in. */
    STAND_IN
  }

  private final String self;
  private final Led group;
  private final List<Ask> asks;
  private final Led.Standing seen;

  // Guarded by this.
  private final Set<String> confirmed = new HashSet<>();
  private List<Peer> rest;
  private final Set<Peer> awaited = new HashSet<>();
  private long restAtNanos = Long.MAX_VALUE;
  private long overAtNanos = Long.MAX_VALUE;
  private boolean over;

  /**
   * Looks at the group; its asks have arrived.
   *
   * @throws NotLeader unless this peer leads and is ready
   */
  BarrierRound(String self, Led group, List<Ask> asks) {
    this.self = self;
    this.group = group;
    this.asks = asks;
    this.seen = group.look();
    this.rest = List.of();
    if (seen.voters().contains(self)) {
      confirmed.add(self);
    }
  }

  GroupId id() {
    return group.id();
  }

  Led group() {
    return group;
  }

  List<Ask> asks() {
    return asks;
  }

  synchronized boolean isConfirmed() {
    return seen.voters().haveMajority(confirmed);
  }

  synchronized boolean isOver() {
    return over;
  }

  /**
   * Chooses whom to ask first: as many as a majority still needs, the best; all of them while the
   * configuration is joint, which is rare and short. The rest is kept for later.
   *
   * @param pace tells the order, and how long to wait before the rest is asked
   */
  synchronized List<Peer> begin(PeerPace pace, long nowNanos, long overAtNanos) {
    List<Peer> order = pace.order(seen.voters().except(self));
    int first =
        seen.voters().isJoint()
            ? order.size()
            : Math.min(order.size(), seen.voters().missing(confirmed));
    List<Peer> asked = new ArrayList<>(order.subList(0, first));
    rest = new ArrayList<>(order.subList(first, order.size()));
    awaited.addAll(asked);
    restAtNanos = nowNanos + pace.patienceNanos(asked);
    this.overAtNanos = overAtNanos;
    return asked;
  }

  /** Who was asked and has not answered. */
  synchronized List<Peer> silent() {
    return List.copyOf(awaited);
  }

  /** Those not asked yet, who are awaited from now on. */
  synchronized List<Peer> takeRest() {
    if (over) {
      return List.of();
    }
    List<Peer> taken = rest;
    rest = List.of();
    awaited.addAll(taken);
    return taken;
  }

  /**
   * A voter's term, read after the asks had arrived.
   *
   * @param term null: it could not be asked, or does not vote
   */
  Next heard(Peer peer, Long term) {
    synchronized (this) {
      awaited.remove(peer);
      if (over) {
        return Next.WAIT;
      }
      if (term == null || term <= seen.term()) {
        return count(peer.id(), term);
      }
      over = true;
    }
    fail(isPast(peer.id(), term));
    return Next.WAIT;
  }

  /**
   * A voter's term that came along with the only ask.
   *
   * @throws NotLeader where it is higher than this leader's
   */
  synchronized void told(VoterTerm voter) {
    if (!seen.voters().contains(voter.voter())) {
      return;
    }
    if (voter.term() > seen.term()) {
      throw isPast(voter.voter(), voter.term());
    }
    if (voter.term() == seen.term()) {
      confirmed.add(voter.voter());
    }
  }

  private NotLeader isPast(String peer, long term) {
    return notLeader("voter " + peer + " is in term " + term + ", past " + seen.term());
  }

  private Next count(String peer, Long term) {
    if (term != null && term == seen.term()) {
      confirmed.add(peer);
      if (isConfirmed()) {
        over = true;
        return Next.CONCLUDE;
      }
      if (!awaited.isEmpty()) {
        return Next.WAIT;
      }
    }
    if (!rest.isEmpty()) {
      return Next.ASK_THE_REST;
    }
    over = awaited.isEmpty();
    return over ? Next.STAND_IN : Next.WAIT;
  }

  /** What is to be done because of the time. Callers that no longer wait are told so. */
  Next due(long nowNanos) {
    boolean anyWaits = false;
    for (Ask ask : asks) {
      if (nowNanos - ask.deadlineNanos() >= 0) {
        ask.answer().completeExceptionally(new TimeoutException(notLeader("no answer").toString()));
      } else {
        anyWaits = true;
      }
    }
    synchronized (this) {
      if (over) {
        return Next.WAIT;
      }
      if (!anyWaits) {
        over = true;
        return Next.WAIT;
      }
      if (nowNanos - overAtNanos >= 0) {
        over = true;
        return Next.STAND_IN;
      }
      return !rest.isEmpty() && nowNanos - restAtNanos >= 0 ? Next.ASK_THE_REST : Next.WAIT;
    }
  }

  /** When {@link #due} has something to say, at the earliest. */
  synchronized long dueAtNanos(long nowNanos) {
    long left = overAtNanos - nowNanos;
    if (!rest.isEmpty()) {
      left = Math.min(left, restAtNanos - nowNanos);
    }
    for (Ask ask : asks) {
      if (!ask.answer().isDone()) {
        left = Math.min(left, ask.deadlineNanos() - nowNanos);
      }
    }
    return nowNanos + left;
  }

  /**
   * Looks again, once a majority has confirmed, and answers.
   *
   * @return asks that have to begin again, because the voters changed meanwhile
   */
  List<Ask> conclusion(int triesMax) {
    Led.Standing now;
    try {
      now = group.look();
    } catch (NotLeader e) {
      fail(e);
      return List.of();
    }
    if (!seen.isSameLeadership(now)) {
      fail(notLeader("leadership of term " + seen.term() + " was lost meanwhile"));
      return List.of();
    }
    if (seen.voters().equals(now.voters())) {
      answer(seen.commitIndex());
      return List.of();
    }
    List<Ask> again = new ArrayList<>();
    for (Ask ask : asks) {
      if (ask.tries() < triesMax) {
        again.add(ask.again());
      } else {
        ask.answer().completeExceptionally(notLeader("its voters keep changing"));
      }
    }
    return again;
  }

  /** An index that is a barrier. */
  void answer(long index) {
    asks.forEach(ask -> ask.answer().complete(index));
  }

  void fail(NotLeader e) {
    asks.forEach(ask -> ask.answer().completeExceptionally(e));
  }

  NotLeader notLeader(String why) {
    return new NotLeader("group " + group.id() + ": " + why);
  }
}
