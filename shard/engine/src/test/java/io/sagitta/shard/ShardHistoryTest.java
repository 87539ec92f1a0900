// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Seeded
class ShardHistoryTest {
  @TempDir Path directory;

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
          new ShardHistory(
              one.random(),
              FsStore.open(directory.resolve(i + "a")),
              FsStore.open(directory.resolve(i + "b")))) {
        history.run(steps);
      } catch (Throwable e) {
        System.err.println("history " + i + " of seed " + seed.value() + " failed");
        throw e;
      }
    }
  }
}
