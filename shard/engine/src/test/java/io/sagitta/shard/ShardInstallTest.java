// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.shard.format.CheckpointDirectory;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.store.CrashableStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

@Seeded
class ShardInstallTest {
  @Test
  void anInstalledCheckpointIsTheStateAndGoesOn(Seed seed) throws IOException {
    List<ByteBuffer> log;
    try (ShardHistory history =
        new ShardHistory(seed.random(), new CrashableStore(), new CrashableStore())) {
      history.run(60);
      log = new ArrayList<>(history.log());
    }
    int announced = log.size() * 2 / 3;
    CrashableStore behindStore = new CrashableStore();
    try (RootAllocator allocator = new RootAllocator();
        Shard ahead = open(new CrashableStore(), allocator)) {
      apply(ahead, log, 0, announced);
      ahead.requestCheckpoint();
      ShardCheckpoint checkpoint = ahead.checkpointed().orElseThrow();
      assertThat(checkpoint.index()).isEqualTo(announced - 1L);
      byte[] digest = ahead.digest();

      try (CheckpointDirectory.Pin pinned = ahead.pin(checkpoint.manifest());
          Shard behind = open(behindStore, allocator)) {
        assertThat(pinned).isNotNull();
        apply(ahead, log, announced, log.size());
        apply(behind, log, 0, announced / 4);
        try (ShardView before = behind.view()) {
          byte[] then = before.digest();
          install(ahead, behind, checkpoint);
          assertThat(behind.state().index()).isEqualTo(checkpoint.index());
          assertThat(behind.digest()).isEqualTo(digest);
          assertThat(before.digest()).as("a view from before").isEqualTo(then);
        }
        assertThat(behind.checkpointed().orElseThrow().index()).isEqualTo(checkpoint.index());
      }
      try (Shard restarted = open(behindStore, allocator)) {
        assertThat(restarted.recoveredIndex()).isEqualTo(checkpoint.index());
        apply(restarted, log, announced, log.size());
        assertThat(restarted.digest()).isEqualTo(ahead.digest());
        assertThat(segments(restarted)).isEqualTo(segments(ahead));
      }
    }
  }

  @Test
  void anEntryThatIsNotKnownStopsTheShardAndKeepsItsCause() throws IOException {
    try (RootAllocator allocator = new RootAllocator();
        Shard shard = open(new CrashableStore(), allocator)) {
      ByteBuffer unknown = ByteBuffer.wrap(new byte[] {4, 0, 0, 0, 0x08, 0x01, 0x10, 0x63});
      assertThatThrownBy(() -> shard.apply(1, 0, unknown))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("type 99");
      assertThatThrownBy(() -> shard.apply(1, 1, ShardEntries.freeze(TestShard.ID, 1)))
          .hasMessageContaining("type 99");
    }
  }

  private static void install(Shard from, Shard to, ShardCheckpoint checkpoint) throws IOException {
    for (CheckpointFile file : to.missingFiles(checkpoint.manifest())) {
      try (InputStream bytes = from.exportFile(file)) {
        to.importFile(file, bytes);
      }
    }
    assertThat(to.missingFiles(checkpoint.manifest())).isEmpty();
    to.install(checkpoint.manifest());
  }

  private static Shard open(CrashableStore store, RootAllocator allocator) throws IOException {
    return Shard.open(
        store, new ShardOptions(Runnable::run, new MemoryBudget(1L << 30), 1_000), allocator);
  }

  private static void apply(Shard shard, List<ByteBuffer> log, int from, int to)
      throws IOException {
    for (int index = from; index < to; index++) {
      shard.apply(1, index, log.get(index).duplicate());
    }
  }

  private static List<String> segments(Shard shard) {
    return shard.state().segments().stream()
        .map(s -> s.name() + " " + s.rows() + " " + s.liveRows())
        .toList();
  }
}
