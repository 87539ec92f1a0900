// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.RandomRows;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.CrashableStore;
import io.sagitta.shard.store.FileOutput;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever happens to a byte of a file, it is noticed; and until then nothing worse than that. */
@Seeded
@Tag("B040")
class FileDamageTest {
  private static final UUID SEGMENT = new UUID(3, 4);
  private static final long LOG_INDEX = 9;

  private final BufferAllocator allocator = new RootAllocator();
  private final CrashableStore store = new CrashableStore();

  @AfterEach
  void nothingLeaks() {
    assertThat(allocator.getAllocatedMemory()).isZero();
    allocator.close();
  }

  @Test
  void everyFlippedBitOfAFrameAndEverySampledBitElsewhereIsDetected(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    for (CheckpointFile file : writeAll(random, 40)) {
      byte[] good = read(file.name());
      int tables = tablesOffset(good);
      int bit = 0;
      while (bit < good.length * 8) {
        byte[] bad = good.clone();
        bad[bit / 8] ^= (byte) (1 << bit % 8);
        assertDetected(file, bad, "bit " + bit % 8 + " of byte " + bit / 8);
        boolean inFrame = bit / 8 < FrameLayout.HEADER_BYTES || bit / 8 >= tables;
        bit += inFrame ? 1 : 1 + random.nextInt(61);
      }
    }
  }

  @Test
  void everyFlippedBitOfAManifestIsDetectedAlsoWhenItComesFromAPeer(Seed seed) throws IOException {
    List<CheckpointFile> files = writeAll(seed.random(), 3);
    Manifest manifest =
        new Manifest(
            4,
            2,
            LOG_INDEX,
            1,
            new byte[50],
            List.of(new Manifest.SegmentRef(SEGMENT, 3, OptionalLong.of(LOG_INDEX))),
            OptionalLong.of(LOG_INDEX),
            files);
    byte[] good = manifest.toBytes();
    assertThat(Manifest.fromBytes(good, "peer").files()).isEqualTo(files);
    for (int bit = 0; bit < good.length * 8; bit++) {
      byte[] bad = good.clone();
      bad[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> Manifest.fromBytes(bad, "peer"))
          .isInstanceOf(CorruptFileException.class);
    }
  }

  @Test
  void aFileCutAtAnyByteOrLengthenedIsDetected(Seed seed) throws IOException {
    for (CheckpointFile file : writeAll(seed.random(), 3)) {
      byte[] good = read(file.name());
      for (int length = 0; length <= good.length + 64; length++) {
        if (length != good.length) {
          assertDetected(file, Arrays.copyOf(good, length), "cut to " + length);
        }
      }
    }
  }

  @Test
  void aBlockOfZerosOrOfAnotherPlaceIsDetected(Seed seed) throws IOException {
    RandomGenerator random = seed.random();
    List<CheckpointFile> files = writeAll(random, 2_000);
    for (CheckpointFile file : files) {
      byte[] good = read(file.name());
      for (int i = 0; i < 20; i++) {
        int length = 1 + random.nextInt(4_096);
        int from = random.nextInt(good.length);
        int to = random.nextInt(good.length);
        int count = Math.min(length, good.length - Math.max(from, to));
        byte[] moved = good.clone();
        System.arraycopy(good, from, moved, to, count);
        byte[] zeros = good.clone();
        Arrays.fill(zeros, to, to + count, (byte) 0);
        for (byte[] bad : List.of(moved, zeros)) {
          if (!Arrays.equals(bad, good)) {
            assertDetected(file, bad, count + " bytes at " + to);
          }
        }
      }
    }
  }

  @Test
  void damageThatTheScrubHasNotSeenYetGivesWrongValuesOrErrorsButNeverLeavesTheFile(Seed seed)
      throws IOException {
    RandomGenerator random = seed.random();
    List<CheckpointFile> files = writeAll(random, 200);
    int refused = 0;
    for (int round = 0; round < 300; round++) {
      CheckpointFile file = files.get(random.nextInt(files.size()));
      byte[] good = read(file.name());
      byte[] bad = good.clone();
      int tables = tablesOffset(good);
      for (int i = 0; i <= round % 5; i++) {
        int at = FrameLayout.HEADER_BYTES + random.nextInt(tables - FrameLayout.HEADER_BYTES);
        bad[at] = (byte) random.nextInt();
      }
      replace(file.name(), bad);
      try (MappedSegment segment = MappedSegment.open(store, SEGMENT, allocator)) {
        readEverything(segment);
      } catch (CorruptFileException | SagittaException | IndexOutOfBoundsException e) {
        refused++;
      }
      replace(file.name(), good);
    }
    assertThat(refused).isPositive();
  }

  @Test
  void anErrorSaysFileOffsetExpectedAndFound(Seed seed) throws IOException {
    CheckpointFile file = writeAll(seed.random(), 10).getFirst();
    byte[] bad = read(file.name());
    bad[0] = 0;
    assertThatThrownBy(() -> Frame.of(file.name(), MemorySegment.ofArray(bad)))
        .hasMessage(
            "file %s is corrupt at offset 0: magic is 0x1a0a0d4154475300, expected 0x1a0a0d4154475389",
            file.name())
        .extracting(e -> ((CorruptFileException) e).toSagittaException().code())
        .isEqualTo(io.sagitta.model.ErrorCode.CORRUPT);
  }

  /** Checked as at an install, at each open, and by the scrub. */
  private void assertDetected(CheckpointFile file, byte[] bad, String what) throws IOException {
    try {
      Frame.of(file.name(), MemorySegment.ofArray(bad)).verify();
    } catch (CorruptFileException e) {
      assertThat(e.file()).isEqualTo(file.name());
      return;
    }
    throw new AssertionError(file.name() + ": " + what + " was not noticed");
  }

  private void readEverything(MappedSegment segment) {
    for (RowChunk chunk : segment.chunks()) {
      RandomRows.values(chunk.columns());
    }
    for (int row = 0; row < segment.rows(); row++) {
      PointId id = segment.id(row);
      segment.find(id.canonicalBytes());
      segment.previous(row);
      segment.version(row);
    }
    for (VectorField field : segment.schema().vectorFields()) {
      MappedVectors vectors = segment.vectors(field);
      for (int row = 0; row < segment.rows(); row++) {
        vectors.isNull(row);
      }
    }
  }

  private List<CheckpointFile> writeAll(RandomGenerator random, int rows) throws IOException {
    CollectionSchema schema = RandomRows.everyType(IdType.UTF8);
    try (VectorSchemaRoot root =
        RandomRows.rows(schema, RandomRows.allColumns(schema), rows, random, allocator)) {
      List<CheckpointFile> files =
          new java.util.ArrayList<>(
              SegmentWriter.write(
                  new RowsSource(SEGMENT, schema, List.of(root)), store, allocator));
      long[] alive = new long[(rows + 63) / 64];
      files.add(LivesFile.write(store, SEGMENT, LOG_INDEX, alive, rows));
      files.add(SessionsFile.write(store, LOG_INDEX, new byte[100]));
      return files;
    }
  }

  private static int tablesOffset(byte[] file) {
    return (int)
        MemorySegment.ofArray(file)
            .get(
                FrameLayout.LONG,
                file.length - FrameLayout.FOOTER_BYTES + FrameLayout.TABLES_OFFSET_AT);
  }

  private byte[] read(String name) throws IOException {
    byte[] bytes = new byte[(int) store.length(name)];
    store.read(name, 0, ByteBuffer.wrap(bytes));
    return bytes;
  }

  private void replace(String name, byte[] bytes) throws IOException {
    store.delete(name);
    try (FileOutput out = store.create(name)) {
      out.write(ByteBuffer.wrap(bytes));
      out.sync();
    }
  }
}
