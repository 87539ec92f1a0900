// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.DamagedShard;
import io.sagitta.shard.store.CrashableStore;
import io.sagitta.shard.store.FileOutput;
import io.sagitta.shard.store.FileStore;
import io.sagitta.shard.store.PowerCut;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** The power is cut at every operation of a checkpoint's life, and again while recovering. */
@Seeded
@Tag("B040")
class CheckpointCrashTest {
  private static final int SEEDS_PER_CUT = 2;

  private final BufferAllocator allocator = new RootAllocator();

  /** Thousands of recoveries say what they removed. */
  @BeforeAll
  static void quiet() {
    ((Logger) LoggerFactory.getLogger(CheckpointDirectory.class)).setLevel(Level.OFF);
  }

  @AfterAll
  static void loud() {
    ((Logger) LoggerFactory.getLogger(CheckpointDirectory.class)).setLevel(null);
  }

  @AfterEach
  void nothingLeaks() {
    assertThat(allocator.getAllocatedMemory()).isZero();
    allocator.close();
  }

  /** What a run got done before the power went. */
  private static final class Progress {
    /** Log index of the last checkpoint whose publish returned; 0 for none. */
    long acknowledged;

    /** Log index of the last checkpoint whose publish began. */
    long begun;
  }

  @Test
  void aPublishedCheckpointSurvivesACutAtAnyOperation(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CrashableStore whole = new CrashableStore();
    publishAll(whole, new Progress());
    int operations = whole.operations();
    assertThat(operations).isGreaterThan(100);
    for (int cut = 0; cut <= operations; cut++) {
      for (int i = 0; i < SEEDS_PER_CUT; i++) {
        CrashableStore store = new CrashableStore();
        store.cutPowerAt(cut);
        Progress progress = new Progress();
        publishUntilDark(store, progress);
        CrashableStore left = store.afterPowerCut(random.nextLong());
        Manifest found = recoverAndCheck(left.copy(), progress, "cut at " + cut);
        cutDuringRecovery(left, found, random);
      }
    }
  }

  @Test
  void anInstallLeavesTheOldOrTheNewCheckpointAtAnyCut(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CrashableStore leader = new CrashableStore();
    publishAll(leader, new Progress());
    CheckpointDirectory source = CheckpointDirectory.open(leader);
    CrashableStore before = new CrashableStore();
    CheckpointDirectory.open(before).publish(new CheckpointFixture(before, allocator).write(100));
    CrashableStore counted = before.copy();
    install(source, counted);
    for (int cut = 0; cut <= counted.operations(); cut++) {
      for (int i = 0; i < SEEDS_PER_CUT; i++) {
        CrashableStore store = before.copy();
        store.cutPowerAt(cut);
        boolean done = false;
        try {
          install(source, store);
          done = true;
        } catch (PowerCut e) {
          // As asked.
        }
        CrashableStore left = store.afterPowerCut(random.nextLong());
        CheckpointDirectory recovered = CheckpointDirectory.open(left);
        assertThat(recovered.damaged()).isEmpty();
        Manifest current = recovered.current().orElseThrow();
        assertThat(current.logIndex()).isIn(done ? List.of(300L) : List.of(100L, 300L));
        new CheckpointFixture(left, allocator).check(current);
        install(source, left);
        new CheckpointFixture(left, allocator)
            .check(CheckpointDirectory.open(left).current().orElseThrow());
        checkNoLeftovers(left);
      }
    }
  }

  /**
   * The power is cut at every operation of a repair, which is begun again afterwards: at no time is
   * there a checkpoint that counts and is neither whole nor known to be damaged, and the repair
   * goes through in the end. What was damaged is kept all along.
   */
  @Test
  void aRepairLeavesADamagedOrAWholeCheckpointAtAnyCut(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CrashableStore peer = new CrashableStore();
    publishAll(peer, new Progress());
    CheckpointDirectory source = CheckpointDirectory.open(peer);
    for (long own : CheckpointFixture.steps()) {
      CrashableStore before = new CrashableStore();
      Manifest whole =
          CheckpointDirectory.open(before)
              .publish(new CheckpointFixture(before, allocator).write(own));
      damage(before, whole, random);
      CrashableStore counted = before.copy();
      repair(source, counted);
      for (int cut = 0; cut <= counted.operations(); cut++) {
        CrashableStore store = before.copy();
        store.cutPowerAt(cut);
        boolean done = false;
        try {
          repair(source, store);
          done = true;
        } catch (PowerCut e) {
          // As asked.
        }
        CrashableStore left = store.afterPowerCut(random.nextLong());
        CheckpointDirectory recovered = CheckpointDirectory.open(left.copy());
        String when = "own " + own + ", cut at " + cut;
        Manifest current = recovered.current().orElseThrow();
        assertThat(current.logIndex()).as(when).isIn(done ? List.of(300L) : List.of(own, 300L));
        if (recovered.damaged().isEmpty()) {
          new CheckpointFixture(left, allocator).check(current);
        } else {
          assertThat(done).as(when).isFalse();
        }
        repair(source, left);
        CheckpointDirectory repaired = CheckpointDirectory.open(left);
        assertThat(repaired.damaged()).as(when).isEmpty();
        assertThat(repaired.current().orElseThrow().logIndex()).isEqualTo(300);
        new CheckpointFixture(left, allocator).check(repaired.current().orElseThrow());
        checkNoLeftovers(left);
        assertThat(left.list(ShardFiles.QUARANTINE)).as(when).isNotEmpty();
      }
    }
  }

  /** Flips a byte of a file or two and removes another. */
  private static void damage(CrashableStore store, Manifest manifest, RandomGenerator random)
      throws IOException {
    int files = manifest.files().size();
    int missing = random.nextInt(files);
    store.delete(manifest.files().get(missing).name());
    store.syncDirectory("");
    for (int i = 1; i <= 2; i++) {
      CheckpointFile file = manifest.files().get((missing + i) % files);
      ByteBuffer bytes = ByteBuffer.allocate((int) file.length());
      store.read(file.name(), 0, bytes);
      bytes.array()[random.nextInt(bytes.capacity())] ^= 1;
      store.delete(file.name());
      try (FileOutput out = store.create(file.name())) {
        out.write(bytes.flip());
        out.sync();
      }
    }
    store.syncDirectory("");
  }

  private static void repair(CheckpointDirectory source, CrashableStore store) throws IOException {
    byte[] manifest = source.current().orElseThrow().toBytes();
    DamagedShard shard = DamagedShard.open(store);
    for (CheckpointFile file : shard.missingFiles(manifest)) {
      try {
        fetch(source, shard, file);
      } catch (CorruptFileException e) {
        // As above.
        assertThat(shard.importedBytes(file)).isZero();
        fetch(source, shard, file);
      }
    }
    shard.install(manifest);
  }

  private static void fetch(CheckpointDirectory source, DamagedShard shard, CheckpointFile file)
      throws IOException {
    long offset = shard.importedBytes(file);
    try (InputStream bytes = source.exportFile(file, offset)) {
      shard.importFile(file, bytes, offset);
    }
  }

  @Test
  void anOperationThatFailsLosesNothingAndCanBeTriedAgain(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    CrashableStore whole = new CrashableStore();
    publishAll(whole, new Progress());
    for (int failing = 0; failing < whole.operations(); failing++) {
      CrashableStore store = new CrashableStore();
      store.failAt(failing);
      CheckpointDirectory directory = CheckpointDirectory.open(store);
      CheckpointFixture fixture = new CheckpointFixture(store, allocator);
      Progress progress = new Progress();
      for (long step : CheckpointFixture.steps()) {
        try {
          publish(directory, fixture, step, progress);
        } catch (IOException e) {
          recoverAndCheck(store.copy(), progress, "failure at " + failing);
          publish(directory, fixture, step, progress);
        }
      }
      recoverAndCheck(store.afterPowerCut(random.nextLong()), progress, "failure at " + failing);
    }
  }

  @ParameterizedTest
  @EnumSource(Forgotten.class)
  void aForgottenSyncIsFoundByThisTest(Forgotten forgotten) throws IOException {
    CrashableStore counted = new CrashableStore();
    publishAll(new Forgetful(counted, forgotten), new Progress());
    int losses = 0;
    for (int cut = 0; cut <= counted.operations(); cut++) {
      CrashableStore store = new CrashableStore();
      store.cutPowerAt(cut);
      Progress progress = new Progress();
      publishUntilDark(new Forgetful(store, forgotten), progress);
      try {
        recoverAndCheck(store.afterPowerCut(cut), progress, "planted");
      } catch (AssertionError | IOException e) {
        losses++;
      }
    }
    assertThat(losses).isPositive();
  }

  private void publishUntilDark(FileStore store, Progress progress) throws IOException {
    try {
      publishAll(store, progress);
    } catch (PowerCut e) {
      // As asked.
    }
  }

  private void publishAll(FileStore store, Progress progress) throws IOException {
    CheckpointDirectory directory = CheckpointDirectory.open(store);
    CheckpointFixture fixture = new CheckpointFixture(store, allocator);
    for (long step : CheckpointFixture.steps()) {
      publish(directory, fixture, step, progress);
    }
  }

  private static void publish(
      CheckpointDirectory directory, CheckpointFixture fixture, long step, Progress progress)
      throws IOException {
    Manifest manifest = fixture.write(step);
    progress.begun = step;
    directory.publish(manifest);
    progress.acknowledged = step;
  }

  /** Recovers and works on; gives what was found, null for nothing. */
  private Manifest recoverAndCheck(CrashableStore store, Progress progress, String when)
      throws IOException {
    CheckpointDirectory directory = CheckpointDirectory.open(store);
    assertThat(directory.damaged()).as(when).isEmpty();
    Optional<Manifest> current = directory.current();
    long index = current.map(Manifest::logIndex).orElse(0L);
    assertThat(index).as(when).isIn(progress.acknowledged, progress.begun);
    CheckpointFixture fixture = new CheckpointFixture(store, allocator);
    if (current.isPresent()) {
      fixture.check(current.get());
    }
    checkNoLeftovers(store);
    directory.publish(fixture.write(400));
    fixture.check(CheckpointDirectory.open(store).current().orElseThrow());
    checkNoLeftovers(store);
    return current.orElse(null);
  }

  private void cutDuringRecovery(CrashableStore left, Manifest found, RandomGenerator random)
      throws IOException {
    CrashableStore counted = left.copy();
    CheckpointDirectory.open(counted);
    for (int cut = 0; cut < counted.operations(); cut++) {
      CrashableStore store = left.copy();
      store.cutPowerAt(cut);
      try {
        CheckpointDirectory.open(store);
      } catch (PowerCut e) {
        // As asked.
      }
      CrashableStore again = store.afterPowerCut(random.nextLong());
      CheckpointDirectory directory = CheckpointDirectory.open(again);
      assertThat(directory.damaged()).isEmpty();
      assertThat(directory.current().map(Manifest::generation))
          .isEqualTo(Optional.ofNullable(found).map(Manifest::generation));
      checkNoLeftovers(again);
    }
  }

  private static void install(CheckpointDirectory source, CrashableStore store) throws IOException {
    Manifest announced = Manifest.fromBytes(source.current().orElseThrow().toBytes(), "announced");
    CheckpointDirectory directory = CheckpointDirectory.open(store);
    for (CheckpointFile file : directory.missing(announced)) {
      try {
        fetch(source, directory, file);
      } catch (CorruptFileException e) {
        // What was kept of an import before a power cut may be damaged; then it starts again.
        assertThat(directory.imported(file)).isZero();
        fetch(source, directory, file);
      }
    }
    directory.install(announced);
  }

  private static void fetch(
      CheckpointDirectory source, CheckpointDirectory directory, CheckpointFile file)
      throws IOException {
    long offset = directory.imported(file);
    try (InputStream bytes = source.exportFile(file, offset)) {
      directory.importFile(file, bytes, offset);
    }
  }

  /** The directory holds the current checkpoint and nothing else of ours. */
  private static void checkNoLeftovers(CrashableStore store) throws IOException {
    Optional<Manifest> current = CheckpointDirectory.open(store).current();
    TreeSet<String> expected = new TreeSet<>();
    if (current.isPresent()) {
      expected.add(ShardFiles.manifest(current.get().generation()));
      current.get().files().forEach(file -> expected.add(file.name()));
    }
    TreeSet<String> found = new TreeSet<>(store.list(""));
    found.removeIf(name -> name.endsWith(".part") || name.endsWith(".staged"));
    assertThat(found).isEqualTo(expected);
  }

  private enum Forgotten {
    FILES,
    DIRECTORIES
  }

  /** A planted bug: a store that reports syncs of one kind as done and does nothing. */
  private record Forgetful(CrashableStore store, Forgotten forgotten) implements FileStore {
    @Override
    public FileOutput create(String name) throws IOException {
      FileOutput out = store.create(name);
      return new FileOutput() {
        @Override
        public void write(ByteBuffer bytes) throws IOException {
          out.write(bytes);
        }

        @Override
        public long length() {
          return out.length();
        }

        @Override
        public void sync() throws IOException {
          if (forgotten != Forgotten.FILES) {
            out.sync();
          }
        }

        @Override
        public void close() throws IOException {
          out.close();
        }
      };
    }

    @Override
    public FileOutput append(String name) throws IOException {
      return store.append(name);
    }

    @Override
    public void read(String name, long offset, ByteBuffer into) throws IOException {
      store.read(name, offset, into);
    }

    @Override
    public MemorySegment map(String name, Arena arena) throws IOException {
      return store.map(name, arena);
    }

    @Override
    public long length(String name) throws IOException {
      return store.length(name);
    }

    @Override
    public boolean exists(String name) {
      return store.exists(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      store.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
      store.delete(name);
    }

    @Override
    public List<String> list(String directory) throws IOException {
      return store.list(directory);
    }

    @Override
    public void createDirectory(String directory) throws IOException {
      store.createDirectory(directory);
    }

    @Override
    public void syncDirectory(String directory) throws IOException {
      if (forgotten != Forgotten.DIRECTORIES) {
        store.syncDirectory(directory);
      }
    }
  }
}
