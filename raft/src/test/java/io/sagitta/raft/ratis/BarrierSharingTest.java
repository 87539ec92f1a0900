// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Peer;
import io.sagitta.raft.TermProbe;
import io.sagitta.raft.VoterTerm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/**
 * Whom the barrier asks, when, and which reads one answer may serve; on one thread, with simulated
 * time and a network that delivers when the test says so. This peer is {@code a}.
 */
class BarrierSharingTest {
  private static final Peer A = new Peer("a", "a:1");
  private static final Peer B = new Peer("b", "b:1");
  private static final Peer C = new Peer("c", "c:1");
  private static final Peer D = new Peer("d", "d:1");
  private static final Peer E = new Peer("e", "e:1");
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final Duration PROBE_TIMEOUT = Duration.ofMillis(500);
  private static final long MS = 1_000_000;

  private final Clock clock = new Clock();
  private final Network network = new Network();
  private final Queue<Runnable> executor = new ArrayDeque<>();
  private final ReadBarrier barrier = barrier(false);

  private ReadBarrier barrier(boolean planted) {
    return new ReadBarrier(
        "a", network, PROBE_TIMEOUT, planted, executor::add, clock::after, () -> clock.now);
  }

  // ---- whom

  @Test
  void ofThreeVotersOneIsAskedAndItsWordIsEnough() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    assertThat(network.asked()).containsExactly("b");
    network.take("b").answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
    clock.advance(10 * MS);
    assertThat(network.asked()).isEmpty();
  }

  @Test
  void ofFiveVotersTwoAreAskedAndBothMustAnswer() {
    Group group = new Group(A, B, C, D, E);
    CompletableFuture<Long> read = ask(group);
    assertThat(network.asked()).containsExactly("b", "c");
    network.take("b").answer(group.term);
    assertThat(read).isNotDone();
    network.take("c").answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
  }

  @Test
  void whileTheConfigurationIsJointAllVotersOfBothAreAskedAndBothMajoritiesMustAnswer() {
    Group group = new Group(A, B, C);
    group.voters = new Voters(List.of(A, D, E), List.of(A, B, C), 7);
    CompletableFuture<Long> read = ask(group);
    assertThat(network.asked()).containsExactlyInAnyOrder("b", "c", "d", "e");
    network.take("b").answer(group.term);
    network.take("c").answer(group.term);
    assertThat(read).isNotDone();
    network.take("e").answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
  }

  @Test
  void aLoneVoterAsksNobody() {
    Group group = new Group(A);
    assertThat(ask(group)).isCompletedWithValue(group.commitIndex);
    assertThat(network.asked()).isEmpty();
  }

  @Test
  void aSilentVoterIsNotWaitedForOnceItTakesLongerThanUsual() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    clock.advance(PeerPace.PATIENCE_NANOS_FIRST - 1);
    assertThat(network.asked()).containsExactly("b");
    clock.advance(1);
    assertThat(network.asked()).containsExactly("b", "c");
    assertThat(read).isNotDone();
    network.take("c").answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
    network.take("b");

    var _ = ask(group);
    assertThat(network.asked()).as("who was silent is asked last").containsExactly("c");
  }

  @Test
  void aVoterThatFailsIsReplacedAtOnce() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    network.take("b").fail();
    assertThat(network.asked()).containsExactly("c");
    network.take("c").answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
  }

  @Test
  void aVoterThatIsBehindOrDoesNotVoteIsNoWitness() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    network.take("b").answer(group.term - 1);
    assertThat(read).isNotDone();
    assertThat(network.asked()).containsExactly("c");
    network.take("c").answerNothing();
    assertThat(read).isNotDone();
    assertThat(group.noops).hasSize(1);
  }

  @Test
  void aVoterAtALaterTermEndsTheReadEvenAfterAnotherWasAsked() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    clock.advance(PeerPace.PATIENCE_NANOS_FIRST);
    network.take("c").answer(group.term + 1);
    assertThatThrownBy(read::join).hasCauseInstanceOf(NotLeader.class);
    network.take("b").answer(group.term);
    assertThat(read).isCompletedExceptionally();
  }

  @Test
  void theQuickestVoterIsAskedFirstAndPatienceFollowsItsPace() {
    Group group = new Group(A, B, C);
    answerAfter(group, "b", 8 * MS);
    answerAfter(group, "c", 3 * MS);
    for (int i = 0; i < 20; i++) {
      answerAfter(group, "c", 3 * MS);
    }
    CompletableFuture<Long> read = ask(group);
    clock.advance(5 * MS);
    assertThat(network.asked()).as("c is 2 ms late").containsExactly("c", "b");
    network.take("b").answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
  }

  private void answerAfter(Group group, String peer, long nanos) {
    CompletableFuture<Long> read = ask(group);
    assertThat(network.asked()).containsExactly(peer);
    clock.advance(nanos);
    network.take(peer).answer(group.term);
    assertThat(read).isCompletedWithValue(group.commitIndex);
  }

  // ---- when nobody confirms

  @Test
  void withoutAMajorityInTimeAnEntryStandsIn() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    clock.advance(PROBE_TIMEOUT.toNanos());
    assertThat(group.noops).hasSize(1);
    group.noops.getFirst().complete(99L);
    assertThat(read).isCompletedWithValue(99L);
    network.take("b").answer(group.term);
    network.take("c").answer(group.term);
    assertThat(group.noops).hasSize(1);
  }

  @Test
  void aReadThatNobodyConfirmsEndsAtItsDeadlineAlsoBesideLongerOnes() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> first = ask(group, SOON);
    CompletableFuture<Long> brief = ask(group, Duration.ofMillis(20));
    CompletableFuture<Long> late = ask(group, Duration.ofSeconds(2));
    clock.advance(20 * MS);
    assertThatThrownBy(brief::join).hasCauseInstanceOf(TimeoutException.class);
    clock.advance(1_980 * MS);
    assertThatThrownBy(late::join).hasCauseInstanceOf(TimeoutException.class);
    assertThat(first).isNotDone();
    clock.advance(SOON.toNanos());
    assertThatThrownBy(first::join).hasCauseInstanceOf(TimeoutException.class);
    assertThat(clock.tasks).isEmpty();
  }

  // ---- sharing

  @Test
  void aReadThatArrivesJustAfterAMessageWasSentNeverSharesItsAnswer() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> first = ask(group);
    group.commitIndex = 11;
    CompletableFuture<Long> second = ask(group);
    network.take("b").answer(group.term);
    assertThat(first).isCompletedWithValue(10L);
    assertThat(second).isNotDone();
    network.take("b").answer(group.term);
    assertThat(second).isCompletedWithValue(11L);
  }

  @Test
  void readsThatArriveWhileMessagesAreOnTheirWayLeaveTogetherWithTheNext() {
    Group group = new Group(A, B, C);
    var _ = ask(group);
    var _ = ask(group);
    List<CompletableFuture<Long>> reads = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      group.commitIndex++;
      reads.add(ask(group));
    }
    assertThat(network.asked()).containsExactly("b", "b");
    network.take("b").answer(group.term);
    assertThat(network.asked()).as("one more for all of them").containsExactly("b", "b");
    network.take("b").answer(group.term);
    assertThat(reads).allMatch(read -> !read.isDone());
    network.take("b").answer(group.term);
    assertThat(reads).allSatisfy(read -> assertThat(read).isCompletedWithValue(group.commitIndex));
    assertThat(barrier.probes()).isEqualTo(3);
    assertThat(barrier.barriers()).isEqualTo(102);
  }

  @Test
  void nobodyWaitsForOthersMessagesLongerThanAMillisecond() {
    Group group = new Group(A, B, C);
    var _ = ask(group);
    var _ = ask(group);
    CompletableFuture<Long> third = ask(group);
    assertThat(network.asked()).hasSize(2);
    clock.advance(ReadBarrier.SHARE_NANOS);
    assertThat(network.asked()).hasSize(3);
    network.takeLast("b").answer(group.term);
    assertThat(third).isCompletedWithValue(group.commitIndex);
  }

  @Test
  void oneMessageToAPeerAsksForAllItsGroups() {
    Group one = new Group(A, B, C);
    Group two = new Group(A, B, C);
    Group three = new Group(A, C, D);
    var _ = ask(one);
    var _ = ask(one);
    CompletableFuture<Long> first = ask(one);
    CompletableFuture<Long> second = ask(two);
    CompletableFuture<Long> third = ask(three);
    network.take("b").answer(one.term);
    assertThat(network.asked()).containsExactly("b", "b", "c");
    network.take("b");
    Network.Message both = network.take("b");
    assertThat(both.groups).containsExactly(one.id, two.id);
    both.answer(Map.of(one.id, one.term, two.id, two.term));
    assertThat(first).isCompletedWithValue(one.commitIndex);
    assertThat(second).isCompletedWithValue(two.commitIndex);
    assertThat(third).isNotDone();
    network.take("c").answer(three.term);
    assertThat(third).isCompletedWithValue(three.commitIndex);
  }

  @Test
  void aGroupOfAMessageThatLostItsLeadershipFailsAloneBeforeOrAfterItWasSent() {
    Group one = new Group(A, B, C);
    Group two = new Group(A, B, C);
    Group three = new Group(A, B, C);
    var _ = ask(one);
    var _ = ask(one);
    CompletableFuture<Long> sound = ask(one);
    CompletableFuture<Long> lostBefore = ask(two);
    CompletableFuture<Long> lostAfter = ask(three);
    two.leads = false;
    network.take("b").answer(one.term);
    assertThatThrownBy(lostBefore::join).hasCauseInstanceOf(NotLeader.class);
    network.take("b");
    Network.Message message = network.take("b");
    assertThat(message.groups).containsExactly(one.id, three.id);
    three.term++;
    message.answer(Map.of(one.id, one.term, three.id, three.term - 1));
    assertThat(sound).isCompletedWithValue(one.commitIndex);
    assertThatThrownBy(lostAfter::join).hasCauseInstanceOf(NotLeader.class);
  }

  @Test
  void whenTheVotersChangedMeanwhileTheReadBeginsAgainAndInTheEndGivesUp() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> read = ask(group);
    for (int tries = 0; tries < 3; tries++) {
      assertThat(read).isNotDone();
      group.voters = new Voters(group.voters.current(), List.of(), group.voters.logIndex() + 1);
      network.take("b").answer(group.term);
      runExecutor();
    }
    assertThatThrownBy(read::join).hasCauseInstanceOf(NotLeader.class);
  }

  // ---- terms that come along

  @Test
  void theTermOfTheVoterThatAsksIsEnoughOfThree() {
    Group group = new Group(A, B, C);
    assertThat(ask(group, new VoterTerm("c", group.term))).isCompletedWithValue(group.commitIndex);
    assertThat(network.asked()).isEmpty();
    assertThat(barrier.barriers()).isEqualTo(1);
  }

  @Test
  void aTermThatComesAlongCountsForNoOtherReadAndNotOfOneWhoDoesNotVoteOrIsBehind() {
    Group group = new Group(A, B, C);
    CompletableFuture<Long> other = ask(group);
    assertThat(ask(group, new VoterTerm("b", group.term))).isCompleted();
    assertThat(other).isNotDone();
    assertThat(ask(group, new VoterTerm("x", group.term))).isNotDone();
    assertThat(ask(group, new VoterTerm("x", group.term + 5))).isNotDone();
    assertThat(ask(group, new VoterTerm("a", group.term))).isNotDone();
    assertThat(ask(group, new VoterTerm("b", group.term - 1))).isNotDone();
  }

  @Test
  void aLaterTermThatComesAlongEndsTheRead() {
    Group group = new Group(A, B, C);
    assertThatThrownBy(() -> ask(group, new VoterTerm("b", group.term + 1)).join())
        .hasCauseInstanceOf(NotLeader.class);
  }

  @Test
  void ofFiveVotersATermThatComesAlongIsNotEnough() {
    Group group = new Group(A, B, C, D, E);
    assertThat(ask(group, new VoterTerm("b", group.term))).isNotDone();
    assertThat(network.asked()).containsExactly("b", "c");
  }

  @Test
  void thePlantedFaultAsksNobody() {
    Group group = new Group(A, B, C);
    assertThat(barrier(true).ask(group, Optional.empty(), SOON))
        .isCompletedWithValue(group.commitIndex);
    assertThat(network.asked()).isEmpty();
  }

  // ---- the simulated world

  private CompletableFuture<Long> ask(Group group) {
    return ask(group, SOON);
  }

  private CompletableFuture<Long> ask(Group group, Duration timeout) {
    return barrier.ask(group, Optional.empty(), timeout);
  }

  private CompletableFuture<Long> ask(Group group, VoterTerm told) {
    return barrier.ask(group, Optional.of(told), SOON);
  }

  private void runExecutor() {
    for (Runnable task = executor.poll(); task != null; task = executor.poll()) {
      task.run();
    }
  }

  /** A group that this peer leads, until told otherwise. */
  private static final class Group implements Led {
    private final GroupId id = new GroupId(UUID.randomUUID());
    private final Object run = new Object();
    private final List<CompletableFuture<Long>> noops = new ArrayList<>();
    private Voters voters;
    private boolean leads = true;
    private long term = 4;
    private long commitIndex = 10;

    Group(Peer... peers) {
      voters = new Voters(List.of(peers), List.of(), 0);
    }

    @Override
    public GroupId id() {
      return id;
    }

    @Override
    public Standing look() {
      if (!leads) {
        throw new NotLeader("group " + id);
      }
      return new Standing(run, term, voters, commitIndex);
    }

    @Override
    public CompletableFuture<Long> noop() {
      CompletableFuture<Long> index = new CompletableFuture<>();
      noops.add(index);
      return index;
    }
  }

  /** Keeps messages until they are taken. */
  private static final class Network implements TermProbe {
    private final List<Message> messages = new ArrayList<>();

    private record Message(
        String to, List<GroupId> groups, CompletableFuture<Map<GroupId, Long>> reply) {
      void answer(long term) {
        Map<GroupId, Long> terms = new HashMap<>();
        groups.forEach(group -> terms.put(group, term));
        reply.complete(terms);
      }

      void answer(Map<GroupId, Long> terms) {
        reply.complete(terms);
      }

      void answerNothing() {
        reply.complete(Map.of());
      }

      void fail() {
        reply.completeExceptionally(new IOException("unreachable"));
      }
    }

    @Override
    public CompletableFuture<Map<GroupId, Long>> terms(
        Peer peer, List<GroupId> groups, Duration timeout) {
      Message message = new Message(peer.id(), groups, new CompletableFuture<>());
      messages.add(message);
      return message.reply;
    }

    @Override
    public CompletableFuture<Long> leaderBarrier(Peer leader, GroupId group, Duration timeout) {
      throw new UnsupportedOperationException();
    }

    List<String> asked() {
      return messages.stream().map(Message::to).toList();
    }

    Message take(String to) {
      Message first = messages.stream().filter(m -> m.to.equals(to)).findFirst().orElseThrow();
      messages.remove(first);
      return first;
    }

    Message takeLast(String to) {
      Message last =
          messages.stream().filter(m -> m.to.equals(to)).reduce((a, b) -> b).orElseThrow();
      messages.remove(last);
      return last;
    }
  }

  private static final class Clock {
    private record Task(long atNanos, long number, Runnable work) {}

    private final PriorityQueue<Task> tasks =
        new PriorityQueue<>(
            Comparator.comparingLong(Task::atNanos).thenComparingLong(Task::number));
    private long now = 1_000_000_000;
    private long number;

    void after(long nanos, Runnable work) {
      tasks.add(new Task(now + nanos, number++, work));
    }

    void advance(long nanos) {
      long end = now + nanos;
      while (!tasks.isEmpty() && tasks.peek().atNanos() <= end) {
        Task next = tasks.poll();
        now = Math.max(now, next.atNanos());
        next.work().run();
      }
      now = end;
    }
  }
}
