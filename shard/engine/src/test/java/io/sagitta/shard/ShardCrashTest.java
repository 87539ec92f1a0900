// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.shard.format.CheckpointDirectory;
import io.sagitta.shard.store.CrashableStore;
import io.sagitta.shard.store.PowerCut;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Cuts the power at every file operation of a history's checkpoints, lets the disk keep what it
 * likes of what was not synced, and starts again from what is left and the log.
 */
@Seeded
class ShardCrashTest {
  private static final Logger CHATTY = (Logger) LoggerFactory.getLogger(CheckpointDirectory.class);

  @BeforeAll
  static void quiet() {
    CHATTY.setLevel(Level.WARN);
  }

  @AfterAll
  static void loud() {
    CHATTY.setLevel(null);
  }

  @Test
  void nothingIsLostWhereverThePowerIsCut(Seed seed) throws IOException {
    run(seed, 1, 40);
  }

  @Tag("slow")
  @Test
  void nothingIsLostWhereverThePowerIsCutInManyHistories(Seed seed) throws IOException {
    run(seed, 60, 80);
  }

  private static void run(Seed seed, int histories, int steps) throws IOException {
    for (int i = 0; i < histories; i++) {
      Seed one = seed.branch("history " + i);
      List<ByteBuffer> log;
      try (ShardHistory history =
          new ShardHistory(one.random(), new CrashableStore(), new CrashableStore())) {
        history.run(steps);
        log = new ArrayList<>(history.log());
      }
      Life whole = new Life(new CrashableStore(), log, one);
      whole.live(-1);
      byte[] digest = whole.digest;
      int operations = whole.store.operations();
      assertThat(operations).as("file operations").isGreaterThan(10);
      for (int cut = 0; cut < operations; cut++) {
        crashAt(cut, log, digest, one);
      }
    }
  }

  private static void crashAt(int cut, List<ByteBuffer> log, byte[] digest, Seed seed)
      throws IOException {
    CrashableStore store = new CrashableStore();
    store.cutPowerAt(cut);
    Life life = new Life(store, log, seed);
    long checkpointed = -1;
    RandomGenerator random = seed.branch("cut " + cut).random();
    // Sometimes the power goes again while the shard recovers.
    for (int lives = 0; ; lives++) {
      if (life.live(checkpointed)) {
        break;
      }
      checkpointed = life.checkpointed;
      store = life.store.afterPowerCut(random.nextLong());
      if (lives < 3 && random.nextBoolean()) {
        store.cutPowerAt(random.nextInt(60));
      }
      life = new Life(store, log, seed);
    }
    assertThat(life.digest).as("power cut at operation %s", cut).isEqualTo(digest);
  }

  /** One start of the shard and all it does until its log ends or the power does. */
  private static final class Life {
    final CrashableStore store;
    private final List<ByteBuffer> log;
    private final RandomGenerator random;
    long checkpointed = -1;
    byte[] digest;

    Life(CrashableStore store, List<ByteBuffer> log, Seed seed) {
      this.store = store;
      this.log = log;
      this.random = seed.branch("checkpoints").random();
    }

    /**
     * Lives on.
     *
     * @param durable log index of a checkpoint that was reported to be durable
     * @return whether the end of the log was reached
     */
    boolean live(long durable) throws IOException {
      checkpointed = durable;
      MemoryBudget memory = new MemoryBudget(1L << 30);
      try (RootAllocator allocator = new RootAllocator()) {
        try (Shard shard =
            Shard.open(store, new ShardOptions(Runnable::run, memory, 1_000), allocator)) {
          assertThat(shard.recoveredIndex()).isGreaterThanOrEqualTo(durable);
          for (int index = 0; index < log.size(); index++) {
            boolean checkpoint = random.nextInt(12) == 0;
            if (index > shard.recoveredIndex()) {
              shard.apply(1, index, log.get(index).duplicate());
              if (checkpoint) {
                shard.requestCheckpoint();
              }
            }
            checkpointed = shard.checkpointed().map(ShardCheckpoint::index).orElse(checkpointed);
          }
          digest = shard.digest();
          return true;
        } catch (PowerCut e) {
          assertThat(store.isDark()).isTrue();
          return false;
        }
      } finally {
        for (MemoryBudget.Part part : MemoryBudget.Part.values()) {
          assertThat(memory.bytes(part)).as("%s given back", part).isZero();
        }
      }
    }
  }
}
