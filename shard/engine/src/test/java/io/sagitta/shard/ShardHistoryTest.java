// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.shard.store.CrashableStore;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Seeded
class ShardHistoryTest {
  @Test
  void theShardHoldsWhatItsHistorySays(Seed seed) throws IOException {
    run(seed, 200, 60);
  }

  @Tag("slow")
  @Test
  void theShardHoldsWhatItsLongHistorySays(Seed seed) throws IOException {
    run(seed, 1_000, 400);
  }

  private void run(Seed seed, int histories, int steps) throws IOException {
    for (int i = 0; i < histories; i++) {
      Seed one = seed.branch("history " + i);
      try (ShardHistory history =
          new ShardHistory(one.random(), new CrashableStore(), new CrashableStore())) {
        history.run(steps);
      } catch (Throwable e) {
        System.err.println("history " + i + " of seed " + seed.value() + " failed");
        throw e;
      }
    }
  }
}
