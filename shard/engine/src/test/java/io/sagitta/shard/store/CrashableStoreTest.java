// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CrashableStoreTest extends FileStoreContract {
  private static final int CUTS = 200;

  @Override
  FileStore newStore() {
    return new CrashableStore();
  }

  @Test
  void whatWasSyncedSurvivesEveryCut() throws IOException {
    for (int seed = 0; seed < CUTS; seed++) {
      CrashableStore store = new CrashableStore();
      write(store, "a", "durable");
      store.syncDirectory("");
      CrashableStore next = store.afterPowerCut(seed);
      assertThat(read(next, "a")).isEqualTo("durable");
    }
  }

  @Test
  void anUnsyncedNameIsSometimesLostAndSometimesThere() throws IOException {
    Set<Boolean> seen = new HashSet<>();
    for (int seed = 0; seed < CUTS; seed++) {
      CrashableStore store = new CrashableStore();
      write(store, "a", "durable");
      CrashableStore next = store.afterPowerCut(seed);
      seen.add(next.exists("a"));
    }
    assertThat(seen).containsExactlyInAnyOrder(true, false);
  }

  @Test
  void unsyncedBytesAreKeptLostOrTornBySectors() throws IOException {
    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < CUTS; seed++) {
      CrashableStore store = new CrashableStore();
      write(store, "a", "");
      store.syncDirectory("");
      try (FileOutput out = store.append("a")) {
        out.write(text("x".repeat(8_192)));
      }
      String left = read(store.afterPowerCut(seed), "a");
      seen.add(
          left.isEmpty()
              ? "lost"
              : left.equals("x".repeat(8_192))
                  ? "kept"
                  : left.length() < 8_192
                      ? "short"
                      : left.substring(0, 4_096).contains("x") ? "torn" : "block lost");
    }
    assertThat(seen).contains("lost", "kept", "short", "torn", "block lost");
  }

  @Test
  void anUnsyncedRenameLeavesTheOldOrTheNewName() throws IOException {
    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < CUTS; seed++) {
      CrashableStore store = new CrashableStore();
      write(store, "old", "1");
      write(store, "new", "2");
      store.syncDirectory("");
      store.rename("old", "new");
      CrashableStore next = store.afterPowerCut(seed);
      seen.add(String.join(",", next.list("")) + "=" + read(next, "new"));
    }
    assertThat(seen).containsExactlyInAnyOrder("new=1", "new,old=2");
  }

  @Test
  void powerIsCutAtTheOperationAskedFor() throws IOException {
    CrashableStore store = new CrashableStore();
    store.cutPowerAt(2);
    FileOutput out = store.create("a");
    out.write(text("1"));
    assertThatThrownBy(out::sync).isInstanceOf(PowerCut.class);
    assertThatThrownBy(() -> store.list("")).isInstanceOf(PowerCut.class);
    assertThat(store.operations()).isEqualTo(2);
    assertThat(store.isDark()).isTrue();
  }

  @Test
  void aFailedSyncLosesTheBytesAlthoughTheNextOneSucceeds() throws IOException {
    CrashableStore store = new CrashableStore();
    FileOutput out = store.create("a");
    store.syncDirectory("");
    out.write(text("1"));
    store.failAt(3);
    assertThatThrownBy(out::sync).isInstanceOf(IOException.class);
    assertThat(read(store, "a")).isEqualTo("1");
    assertThat(store.afterPowerCut(7).length("a")).isZero();
  }

  @Test
  void aFullDiskStillLetsFilesGo() throws IOException {
    CrashableStore store = new CrashableStore();
    write(store, "a", "1");
    store.failFrom(store.operations());
    assertThatThrownBy(() -> write(store, "b", "2")).isInstanceOf(IOException.class);
    store.delete("a");
    assertThat(store.list("")).isEmpty();
  }
}
