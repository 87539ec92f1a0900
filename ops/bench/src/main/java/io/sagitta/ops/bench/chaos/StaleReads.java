// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.report.Report;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Takes the leader away from its followers, lets others elect another and write, and asks the old
 * one for strong reads just then: it may refuse, it may answer late, but it must never answer with
 * what was true before.
 *
 * <p>Half of the rounds pause the leader's process, send it reads while it sleeps and wake it; the
 * other half cut its links to the other nodes and ask it all the while. Ends early once a read was
 * stale.
 *
 * <p>A write only ever adds a point of its own. So whoever retries it, and however late it takes
 * effect, nothing that was acknowledged can be missing again: what a strong read does not see,
 * although it had been acknowledged before the read was sent, is stale without an exception.
 */
public final class StaleReads {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int READS_WHILE_ASLEEP = 48;
  private static final int READERS = 3;
  private static final int WRITERS = 4;

  /** Of a writer between two writes: enough acknowledgements to be behind, and few points. */
  private static final long BREATH_MS = 5;

  private static final int VIOLATIONS_SHOWN = 20;

  /** What can be done to nodes. */
  public interface Hand {
    void pause(String node);

    void resume(String node);

    void cutOff(String node);

    void heal(String node);
  }

  private final Register register;
  private final Hand hand;
  private final List<String> nodes;
  private final SplittableRandom random;
  private final PrintStream log;

  private final Staleness staleness = new Staleness();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong editions = new AtomicLong();
  private final List<Violation> stale = new ArrayList<>(); // guarded by itself

  private volatile String avoided = "";
  private volatile boolean ended;

  public StaleReads(
      Register register, Hand hand, List<String> nodes, SplittableRandom random, PrintStream log) {
    this.register = register;
    this.hand = hand;
    this.nodes = List.copyOf(nodes);
    this.random = random;
    this.log = log;
  }

  /** Runs the rounds and enters their figures; sets the verdict. */
  public void run(int rounds, Report report) throws InterruptedException {
    int paused = 0;
    int cut = 0;
    long slowestMs = 0;
    List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      SplittableRandom own = random.split();
      writers.add(Thread.ofVirtual().name("writer-" + i).start(() -> write(own)));
    }
    try {
      for (int round = 1; round <= rounds && count() == 0; round++) {
        String leader = awaitLeader();
        avoided = leader;
        boolean pause = random.nextBoolean();
        long electedMs = pause ? pauseRound(leader) : cutRound(leader);
        avoided = "";
        paused += pause ? 1 : 0;
        cut += pause ? 0 : 1;
        slowestMs = Math.max(slowestMs, electedMs);
        readEverywhere();
        staleness.compact();
        if (round % 10 == 0 || round == rounds) {
          log.printf(
              "round %d/%d: %d reads, %d refused, %d stale%n",
              round, rounds, reads.get(), refused.get(), count());
        }
      }
    } finally {
      ended = true;
      for (Thread writer : writers) {
        writer.join(PATIENCE);
      }
    }
    report
        .put("rounds", paused + cut)
        .put("rounds_paused", paused)
        .put("rounds_cut_off", cut)
        .put("writes_acknowledged", staleness.count())
        .put("reads", reads.get())
        .put("reads_refused", refused.get())
        .put("slowest_failover_ms", slowestMs)
        .put("stale", count());
    synchronized (stale) {
      if (!stale.isEmpty()) {
        ArrayNode shown = report.figures().withArray("/violations");
        stale.stream()
            .limit(VIOLATIONS_SHOWN)
            .forEach(v -> shown.addObject().put("kind", v.kind().name()).put("detail", v.detail()));
      }
    }
    report.ok(count() == 0);
  }

  private int count() {
    synchronized (stale) {
      return stale.size();
    }
  }

  // ---- a round

  /** Milliseconds until somebody else acknowledged a write. */
  private long pauseRound(String leader) throws InterruptedException {
    long begin = System.nanoTime();
    hand.pause(leader);
    long electedMs;
    List<Thread> asked = new ArrayList<>();
    try {
      awaitWritesWithout(leader);
      electedMs = (System.nanoTime() - begin) / 1_000_000;
      for (int i = 0; i < READS_WHILE_ASLEEP; i++) {
        asked.add(Thread.ofVirtual().start(() -> read(leader)));
      }
      Thread.sleep(random.nextInt(5, 60)); // until they lie in its sockets
    } finally {
      hand.resume(leader);
    }
    for (Thread thread : asked) {
      thread.join(PATIENCE);
    }
    return electedMs;
  }

  private long cutRound(String leader) throws InterruptedException {
    long begin = System.nanoTime();
    hand.cutOff(leader);
    boolean[] healed = {false};
    List<Thread> asking = new ArrayList<>();
    long electedMs;
    try {
      for (int i = 0; i < READERS; i++) {
        asking.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      while (!healed(healed)) {
                        read(leader);
                      }
                    }));
      }
      awaitWritesWithout(leader);
      electedMs = (System.nanoTime() - begin) / 1_000_000;
      Thread.sleep(random.nextInt(50, 300));
    } finally {
      hand.heal(leader);
      synchronized (healed) {
        healed[0] = true;
      }
    }
    for (Thread thread : asking) {
      thread.join(PATIENCE);
    }
    return electedMs;
  }

  private static boolean healed(boolean[] flag) {
    synchronized (flag) {
      return flag[0];
    }
  }

  /** Waits until a write that began after now has been acknowledged, by others. */
  private void awaitWritesWithout(String leader) throws InterruptedException {
    // Those under way now may still have been acknowledged by the old leader.
    long wanted = editions.get() + 1;
    await(() -> staleness.newest() >= wanted, "no write was acknowledged without " + leader);
  }

  private void readEverywhere() {
    for (String node : nodes) {
      read(node);
    }
  }

  private void read(String node) {
    long wanted = staleness.newest();
    if (wanted == 0) {
      return;
    }
    long sent = System.nanoTime();
    boolean seen;
    try {
      seen = register.sees(node, wanted);
    } catch (SagittaException e) {
      refused.incrementAndGet();
      return;
    }
    reads.incrementAndGet();
    Optional<Violation> violation = staleness.read(node, wanted, seen, sent);
    if (violation.isPresent()) {
      synchronized (stale) {
        stale.add(violation.get());
      }
    }
  }

  // ---- others write

  private void write(SplittableRandom own) {
    while (!ended) {
      long edition = editions.incrementAndGet();
      List<String> others = nodes.stream().filter(node -> !node.equals(avoided)).toList();
      try {
        register.write(others.get(own.nextInt(others.size())), edition);
        staleness.acknowledged(edition, System.nanoTime());
      } catch (SagittaException e) {
        // Perhaps applied, perhaps not: only acknowledgements count.
      }
      try {
        Thread.sleep(BREATH_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private String awaitLeader() throws InterruptedException {
    String[] leader = new String[1];
    await(
        () -> {
          leader[0] = agreedLeader().orElse(null);
          return leader[0] != null;
        },
        "no leader");
    return leader[0];
  }

  /** The leader that all nodes name, so that nobody still lies back from the round before. */
  private Optional<String> agreedLeader() {
    Optional<String> agreed = Optional.empty();
    for (String node : nodes) {
      Optional<String> named;
      try {
        named = register.leader(node);
      } catch (SagittaException e) {
        return Optional.empty();
      }
      if (named.isEmpty() || agreed.isPresent() && !agreed.equals(named)) {
        return Optional.empty();
      }
      agreed = named;
    }
    return agreed;
  }

  private static void await(BooleanSupplier condition, String failure) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new ClusterException(failure + " within " + PATIENCE.toSeconds() + " s");
      }
      Thread.sleep(5);
    }
  }
}
