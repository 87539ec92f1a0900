// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.CrashableStore;
import io.sagitta.shard.store.FileOutput;
import io.sagitta.shard.store.FileStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CheckpointDirectoryTest {
  private final BufferAllocator allocator = new RootAllocator();
  private final CrashableStore store = new CrashableStore();
  private final CheckpointFixture fixture = new CheckpointFixture(store, allocator);
  private CheckpointDirectory directory;

  @BeforeEach
  void open() throws IOException {
    directory = CheckpointDirectory.open(store);
  }

  @AfterEach
  void nothingLeaks() {
    assertThat(allocator.getAllocatedMemory()).isZero();
    allocator.close();
  }

  @Test
  void aNewDirectoryHasNoCheckpoint() {
    assertThat(directory.current()).isEmpty();
    assertThat(directory.damaged()).isEmpty();
  }

  @Test
  void theNewestManifestCountsAndOldFilesGo() throws IOException {
    directory.publish(fixture.write(100));
    Manifest second = directory.publish(fixture.write(200));
    assertThat(second.generation()).isEqualTo(2);
    Manifest found = CheckpointDirectory.open(store).current().orElseThrow();
    assertThat(found).usingRecursiveComparison().isEqualTo(second);
    assertThat(store.list(""))
        .contains("manifest.2", "sessions.200", CheckpointFixture.id(1) + ".lives.200")
        .doesNotContain("manifest.1", "sessions.100", CheckpointFixture.id(1) + ".lives.100");
  }

  @Test
  void aManifestIsNotPublishedBeforeItsFilesAreThere() throws IOException {
    Manifest manifest = fixture.write(100);
    store.delete(manifest.files().getLast().name());
    assertThatThrownBy(() -> directory.publish(manifest))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sessions.100");
  }

  @Test
  void pinnedFilesStayUntilTheLastPinIsClosed() throws IOException {
    Manifest first = directory.publish(fixture.write(100));
    CheckpointDirectory.Pin one = directory.pin(first);
    CheckpointDirectory.Pin two = directory.pin(first);
    directory.publish(fixture.write(300));
    one.close();
    one.close();
    for (CheckpointFile file : first.files()) {
      assertThat(store.exists(file.name())).isTrue();
      directory.exportFile(file, 0).close();
    }
    two.close();
    for (CheckpointFile file : first.files()) {
      assertThat(store.exists(file.name())).isFalse();
      assertThatThrownBy(() -> directory.exportFile(file, 0))
          .isInstanceOf(NoSuchFileException.class);
    }
  }

  @Test
  @Tag("B040")
  void leftoversAndUnknownFilesAreHarmless() throws IOException {
    Manifest manifest = directory.publish(fixture.write(200));
    write("x.tmp", "foreign");
    write("notes.txt", "a person's");
    write("manifest.9.tmp", "half a manifest");
    write(CheckpointFixture.id(7) + ".ids.tmp", "half a file");
    write(CheckpointFixture.id(7) + ".payload", "");
    write("sessions.250", "of a checkpoint that was not published");
    CheckpointDirectory again = CheckpointDirectory.open(store);
    assertThat(again.current().orElseThrow().generation()).isEqualTo(manifest.generation());
    assertThat(again.damaged()).isEmpty();
    assertThat(store.list("")).hasSize(manifest.files().size() + 3);
    assertThat(store.list("")).contains("x.tmp", "notes.txt");
  }

  @Test
  @Tag("B040")
  void aTornManifestIsMovedAsideAndTheOneBeforeCounts() throws IOException {
    Manifest first = directory.publish(fixture.write(100));
    CheckpointDirectory.Pin kept = directory.pin(first);
    byte[] firstBytes = read("manifest.1");
    Manifest second = directory.publish(fixture.write(200));
    store.delete("manifest.2");
    byte[] torn = second.toBytes();
    write("manifest.2", torn, torn.length - 1);
    write("manifest.1", firstBytes, firstBytes.length);
    CheckpointDirectory again = CheckpointDirectory.open(store);
    assertThat(again.current().orElseThrow().logIndex()).isEqualTo(100);
    assertThat(again.damaged()).isEmpty();
    assertThat(store.list("quarantine")).containsExactly("quarantine/manifest.2");
    // The files of the torn one may be all there is of the newest rows: kept, and used by an
    // install.
    assertThat(store.exists("sessions.200")).isTrue();
    assertThat(again.missing(second)).isEmpty();
    assertThat(again.install(second).generation()).isEqualTo(3);
    fixture.check(CheckpointDirectory.open(store).current().orElseThrow());
    kept.close();
  }

  @Test
  @Tag("B040")
  void aDamagedFileIsMovedAsideReportedAndFetchedAgain() throws IOException {
    CrashableStore peer = new CrashableStore();
    CheckpointDirectory source = CheckpointDirectory.open(peer);
    source.publish(new CheckpointFixture(peer, allocator).write(200));
    Manifest manifest = directory.publish(fixture.write(200));
    CheckpointFile flipped = manifest.files().get(1);
    CheckpointFile missing = manifest.files().get(2);
    flip(flipped.name(), 70);
    store.delete(missing.name());
    CheckpointDirectory again = CheckpointDirectory.open(store);
    assertThat(again.damaged()).containsExactly(flipped, missing);
    assertThat(store.list("quarantine")).containsExactly("quarantine/" + flipped.name());
    Manifest current = again.current().orElseThrow();
    assertThat(again.missing(current)).containsExactly(flipped, missing);
    for (CheckpointFile file : again.damaged()) {
      try (InputStream bytes = source.exportFile(file, 0)) {
        again.importFile(file, bytes, 0);
      }
    }
    again.install(current);
    assertThat(again.damaged()).isEmpty();
    fixture.check(CheckpointDirectory.open(store).current().orElseThrow());
  }

  @Test
  void quarantineKeepsTheLastCaseAndDoesNotGrowWithEachRepair() throws IOException {
    CrashableStore peer = new CrashableStore();
    CheckpointDirectory source = CheckpointDirectory.open(peer);
    Manifest manifest = source.publish(new CheckpointFixture(peer, allocator).write(200));
    directory.publish(fixture.write(200));
    for (CheckpointFile file : manifest.files()) {
      flip(file.name(), 70);
      CheckpointDirectory damaged = CheckpointDirectory.open(store);
      assertThat(damaged.damaged()).containsExactly(file);
      // Not repaired yet: opened again and again, the evidence stays.
      CheckpointDirectory again = CheckpointDirectory.open(store);
      assertThat(store.list("quarantine")).containsExactly("quarantine/" + file.name());
      assertThat(again.missing(manifest)).containsExactly(file);
      again.importFile(file, source.exportFile(file, 0), 0);
      again.install(manifest);
      again.repaired();
      CheckpointDirectory.open(store).repaired();
      assertThat(store.list("quarantine"))
          .containsExactlyInAnyOrder("quarantine/" + file.name(), "quarantine/case-closed");
      fixture.check(CheckpointDirectory.open(store).current().orElseThrow());
    }
  }

  @Test
  @Tag("B040")
  void oneByteInTheMidstOfALargeFileIsNoticedAtTheNextOpen() throws IOException {
    CheckpointFile large = SessionsFile.write(store, 150, new byte[3 << 20]);
    directory.publish(
        new Manifest(0, 7, 150, 1, new byte[1], List.of(), OptionalLong.of(150), List.of(large)));
    assertThat(CheckpointDirectory.open(store).damaged()).isEmpty();
    flip(large.name(), 2 << 20);
    assertThat(CheckpointDirectory.open(store).damaged()).containsExactly(large);
  }

  @Test
  void theScrubFindsADamagedFileAndThePeerMendsIt() throws IOException {
    CrashableStore peer = new CrashableStore();
    CheckpointDirectory source = CheckpointDirectory.open(peer);
    source.publish(new CheckpointFixture(peer, allocator).write(300));
    Manifest manifest = directory.publish(fixture.write(300));
    assertThat(directory.verify(step -> {})).isEmpty();
    CheckpointFile file = manifest.files().getFirst();
    flip(file.name(), 200);
    assertThat(directory.verify(step -> {})).containsExactly(file);
    assertThat(directory.missing(manifest)).containsExactly(file);
    directory.importFile(file, source.exportFile(file, 0), 0);
    directory.install(manifest);
    assertThat(directory.verify(step -> {})).isEmpty();
  }

  @Test
  void anInterruptedImportGoesOnWhereItStopped() throws IOException {
    CheckpointDirectory source = sourceAt(300);
    Manifest announced = source.current().orElseThrow();
    List<CheckpointFile> missing = directory.missing(announced);
    assertThat(missing).isEqualTo(announced.files());
    for (CheckpointFile file : missing) {
      byte[] bytes = source.exportFile(file, 0).readAllBytes();
      int half = bytes.length / 2;
      InputStream breaks = new Breaking(new ByteArrayInputStream(bytes, 0, half));
      assertThatThrownBy(() -> directory.importFile(file, breaks, 0))
          .hasMessage("connection reset");
      assertThat(directory.imported(file)).isEqualTo(half);
      assertThatThrownBy(
              () -> directory.importFile(file, new ByteArrayInputStream(bytes), half - 1))
          .isInstanceOf(IllegalArgumentException.class);
      // A restart changes nothing.
      directory = CheckpointDirectory.open(store);
      directory.importFile(file, source.exportFile(file, half), half);
      assertThat(directory.imported(file)).isZero();
    }
    assertThat(directory.missing(announced)).isEmpty();
    directory.install(announced);
    fixture.check(directory.current().orElseThrow());
  }

  @Test
  void anotherFileThanAnnouncedIsRefusedAndForgotten() throws IOException {
    CheckpointDirectory source = sourceAt(300);
    Manifest announced = source.current().orElseThrow();
    directory.missing(announced);
    CheckpointFile file = announced.files().getFirst();
    byte[] good = source.exportFile(file, 0).readAllBytes();
    byte[] longer = java.util.Arrays.copyOf(good, good.length + 1);
    byte[] shorter = java.util.Arrays.copyOf(good, good.length - 1);
    byte[] flipped = good.clone();
    flipped[100] ^= 1;
    byte[] other = source.exportFile(announced.files().get(1), 0).readAllBytes();
    for (byte[] bad : List.of(longer, shorter, flipped, other, new byte[0])) {
      assertThatThrownBy(() -> directory.importFile(file, new ByteArrayInputStream(bad), 0))
          .isInstanceOf(CorruptFileException.class);
      assertThat(directory.imported(file)).isZero();
    }
    assertThat(directory.missing(announced)).isEqualTo(announced.files());
    assertThatThrownBy(() -> directory.install(announced)).isInstanceOf(NoSuchFileException.class);
  }

  @Test
  @Tag("B045")
  void aPeerCannotNameAFileThatIsNotOfACheckpoint() {
    for (String name :
        List.of("../x", "manifest.7", "sessions.1.tmp", "quarantine/sessions.1", "x", "")) {
      CheckpointFile file = new CheckpointFile(name, 1, 1);
      assertThatThrownBy(() -> directory.importFile(file, new ByteArrayInputStream(new byte[1]), 0))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> directory.exportFile(file, 0))
          .isInstanceOf(NoSuchFileException.class);
      byte[] manifest =
          new Manifest(
                  1, 1, 1, 1, new byte[0], List.of(), java.util.OptionalLong.empty(), List.of(file))
              .toBytes();
      assertThatThrownBy(() -> Manifest.fromBytes(manifest, "a peer's manifest"))
          .isInstanceOf(CorruptFileException.class);
    }
  }

  @Test
  void anInstallFetchesOnlyWhatIsLackingAndDropsWhatWasFetchedForAnother() throws IOException {
    CrashableStore peer = new CrashableStore();
    CheckpointDirectory source = CheckpointDirectory.open(peer);
    CheckpointFixture peerFixture = new CheckpointFixture(peer, allocator);
    source.publish(peerFixture.write(100));
    directory.publish(fixture.write(100));
    Manifest second = source.publish(peerFixture.write(200));
    CheckpointDirectory.Pin pin = source.pin(second);
    List<String> missing = directory.missing(second).stream().map(CheckpointFile::name).toList();
    assertThat(missing)
        .isNotEmpty()
        .noneMatch(
            name -> name.startsWith(CheckpointFixture.id(1) + ".") && !name.contains("lives"));
    for (CheckpointFile file : directory.missing(second)) {
      directory.importFile(file, source.exportFile(file, 0), 0);
    }
    Manifest third = source.publish(peerFixture.write(300));
    for (CheckpointFile file : directory.missing(third)) {
      directory.importFile(file, source.exportFile(file, 0), 0);
    }
    directory.install(third);
    List<String> expected = new ArrayList<>(List.of("manifest.2"));
    third.files().forEach(file -> expected.add(file.name()));
    assertThat(store.list("")).containsExactlyInAnyOrderElementsOf(expected);
    pin.close();
  }

  @Test
  void aFileUnderAnothersNameIsNoticed() throws IOException {
    Manifest manifest = fixture.write(200);
    String one = CheckpointFixture.id(1) + ".versions";
    String two = CheckpointFixture.id(2) + ".versions";
    store.rename(one, "aside");
    store.rename(two, one);
    store.rename("aside", two);
    directory.publish(manifest);
    assertThatThrownBy(() -> MappedSegment.open(store, CheckpointFixture.id(1), allocator))
        .isInstanceOf(CorruptFileException.class)
        .hasMessageContaining(one);
  }

  @Test
  void aLaterFormatIsNotTouched() throws IOException {
    Manifest manifest = directory.publish(fixture.write(100));
    byte[] bytes = read("manifest.1");
    bytes[FrameLayout.VERSION_AT] = 2;
    ByteBuffer.wrap(bytes)
        .order(java.nio.ByteOrder.LITTLE_ENDIAN)
        .putInt(
            FrameLayout.HEADER_CRC_AT,
            Checksums.of(
                java.lang.foreign.MemorySegment.ofArray(bytes)
                    .asSlice(0, FrameLayout.HEADER_CRC_AT)));
    store.delete("manifest.1");
    write("manifest.1", bytes, bytes.length);
    List<String> before = store.list("");
    assertThatThrownBy(() -> CheckpointDirectory.open(store))
        .isInstanceOf(FormatTooNewException.class)
        .hasMessageContaining("manifest.1 has format version 2, this release reads up to 1");
    assertThat(store.list("")).isEqualTo(before);
    assertThat(manifest.files()).isNotEmpty();
  }

  @Test
  @Tag("B039")
  void aDiskThatWasFullIsUsedAgainWithoutARestart() throws IOException {
    directory.publish(fixture.write(100));
    int before = store.operations();
    for (int room = 0; ; room++) {
      store.failFrom(store.operations() + room);
      try {
        directory.publish(fixture.write(200));
        store.failAt(-1);
        break;
      } catch (IOException e) {
        assertThat(directory.current().orElseThrow().logIndex()).isEqualTo(100);
        store.failAt(-1);
        fixture.check(directory.current().orElseThrow());
      }
    }
    assertThat(store.operations() - before).isGreaterThan(1_000);
    Manifest current = CheckpointDirectory.open(store).current().orElseThrow();
    fixture.check(current);
    assertThat(store.list("")).hasSize(current.files().size() + 1);
  }

  @Test
  void aCheckpointThatIsGoneCannotBePinned() throws IOException {
    Manifest first = directory.publish(fixture.write(100));
    directory.publish(fixture.write(300));
    assertThatThrownBy(() -> directory.pin(first)).isInstanceOf(NoSuchFileException.class);
  }

  private CheckpointDirectory sourceAt(long logIndex) throws IOException {
    CrashableStore peer = new CrashableStore();
    CheckpointDirectory source = CheckpointDirectory.open(peer);
    source.publish(new CheckpointFixture(peer, allocator).write(logIndex));
    return source;
  }

  private void write(String name, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    write(name, bytes, bytes.length);
  }

  private void write(String name, byte[] bytes, int length) throws IOException {
    try (FileOutput out = ((FileStore) store).create(name)) {
      out.write(ByteBuffer.wrap(bytes, 0, length));
      out.sync();
    }
  }

  private byte[] read(String name) throws IOException {
    byte[] bytes = new byte[(int) store.length(name)];
    store.read(name, 0, ByteBuffer.wrap(bytes));
    return bytes;
  }

  private void flip(String name, int at) throws IOException {
    byte[] bytes = read(name);
    bytes[at] ^= 4;
    store.delete(name);
    write(name, bytes, bytes.length);
  }

  private static final class Breaking extends InputStream {
    private final InputStream in;

    Breaking(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int read = in.read(into, offset, length);
      if (read < 0) {
        throw new IOException("connection reset");
      }
      return read;
    }
  }
}
