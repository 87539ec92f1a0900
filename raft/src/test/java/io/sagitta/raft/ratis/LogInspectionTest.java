// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.DamagedStateException;
import io.sagitta.raft.LogPosition;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.MetadataProto;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogInspectionTest {
  private static final LogPosition NONE = LogPosition.NONE;

  private GroupFolder folder;

  @BeforeEach
  void setUp(@TempDir Path temporary) throws Exception {
    folder = new GroupFolder(temporary);
    Files.createDirectories(folder.current());
  }

  @Test
  void anEmptyLogEndsWhereTheStateIs() throws Exception {
    assertThat(inspect(NONE, NONE)).isEqualTo(NONE);
    LogPosition at = new LogPosition(3, 17);
    assertThat(inspect(at, at)).isEqualTo(at);
  }

  @Test
  void aWholeLogEndsAtItsLastEntryPaddingOrNot() throws Exception {
    write("log_0-4", segment(0, 4, 1));
    write("log_inprogress_5", Arrays.copyOf(segment(5, 9, 2), 4096));
    assertThat(inspect(NONE, position(2, 9))).isEqualTo(position(2, 9));
  }

  @Test
  void theLastRecordCutAtAnyByteIsForgivenAboveTheMarkAndNotBelow() throws Exception {
    byte[] whole = segment(0, 9, 1);
    int beforeLast = segment(0, 8, 1).length;
    for (int length = beforeLast + 1; length < whole.length; length++) {
      write("log_inprogress_0", Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> inspect(NONE, position(1, 9)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("log_inprogress_0")
          .hasMessageContaining("offset " + beforeLast);
      assertThat(inspect(NONE, position(1, 8))).isEqualTo(position(1, 8));
      assertThat(Files.size(folder.current().resolve("log_inprogress_0"))).isEqualTo(beforeLast);
    }
  }

  @Test
  void everyFlippedBitBelowTheMarkIsFound() throws Exception {
    byte[] whole = segment(0, 3, 1);
    for (int bit = 0; bit < whole.length * 8; bit++) {
      byte[] flipped = whole.clone();
      flipped[bit / 8] ^= (byte) (1 << (bit % 8));
      write("log_inprogress_0", flipped);
      assertThatThrownBy(() -> inspect(NONE, position(1, 3)))
          .as("bit %d", bit)
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aClosedSegmentThatWasCutBeforeItsRenameGetsItsName() throws Exception {
    write("log_0-9", segment(0, 6, 1));
    assertThat(inspect(NONE, position(1, 5))).isEqualTo(position(1, 6));
    assertThat(folder.current().resolve("log_0-6")).exists();
    assertThat(folder.current().resolve("log_0-9")).doesNotExist();
  }

  @Test
  void anOpenSegmentThatAnotherFollowsIsClosedByName() throws Exception {
    write("log_inprogress_0", segment(0, 4, 1));
    write("log_inprogress_5", segment(5, 6, 1));
    assertThat(inspect(NONE, position(1, 6))).isEqualTo(position(1, 6));
    assertThat(folder.current().resolve("log_0-4")).exists();
  }

  @Test
  void aGapIsRefusedUnlessTheCheckpointCoversWhatIsBeforeIt() throws Exception {
    write("log_0-4", segment(0, 4, 1));
    write("log_10-14", segment(10, 14, 1));
    assertThatThrownBy(() -> inspect(NONE, NONE)).hasMessageContaining("log_10-14 follows");
    assertThat(inspect(position(1, 12), NONE)).isEqualTo(position(1, 14));
    assertThat(folder.current().resolve("log_0-4")).doesNotExist();
  }

  @Test
  void aLogThatBeginsBehindTheCheckpointIsRefused() throws Exception {
    write("log_10-14", segment(10, 14, 1));
    assertThatThrownBy(() -> inspect(position(1, 8), NONE))
        .hasMessageContaining("begins at index 10")
        .hasMessageContaining("ends at 8");
    assertThat(inspect(position(1, 9), NONE)).isEqualTo(position(1, 14));
  }

  @Test
  void aLogThatTheCheckpointCoversWhollyIsDeleted() throws Exception {
    write("log_0-4", segment(0, 4, 1));
    write("log_inprogress_5", segment(5, 8, 1));
    assertThat(inspect(position(2, 20), position(2, 20))).isEqualTo(position(2, 20));
    assertThat(folder.current()).isEmptyDirectory();
  }

  @Test
  void anotherTermAtTheMarkIsRefused() throws Exception {
    write("log_inprogress_0", segment(0, 9, 4));
    assertThatThrownBy(() -> inspect(NONE, position(3, 7)))
        .hasMessageContaining("term 3, found term 4");
  }

  @Test
  void aLogThatBeginsTooLateSaysWhichCheckpointWouldDo() throws Exception {
    write("log_10-14", segment(10, 14, 1));
    assertThatThrownBy(() -> inspect(position(1, 8), NONE))
        .isInstanceOfSatisfying(
            DamagedStateException.class, e -> assertThat(e.indexWanted()).isEqualTo(9));
  }

  @Test
  void aLogThatWentAstrayBeforeTheCheckpointIsDeleted() throws Exception {
    write("log_0-4", segment(0, 4, 1));
    write("log_inprogress_5", segment(5, 12, 2));
    assertThat(inspect(position(3, 10), position(1, 4))).isEqualTo(position(3, 10));
    assertThat(folder.current()).isEmptyDirectory();
  }

  @Test
  void whatIsBehindTheCheckpointInALogThatHoldsItStays() throws Exception {
    write("log_0-4", segment(0, 4, 1));
    write("log_inprogress_5", segment(5, 12, 2));
    assertThat(inspect(position(2, 10), position(1, 4))).isEqualTo(position(2, 12));
  }

  @Test
  void aCheckChangesNothing() throws Exception {
    write("log_0-4", segment(0, 4, 1));
    write("log_inprogress_5", segment(5, 6, 1));
    write("log_inprogress_7", Arrays.copyOf(segment(7, 9, 1), segment(7, 9, 1).length - 3));
    Files.createFile(folder.current().resolve("log_inprogress_100"));
    Map<String, Long> before = sizes();
    LogInspection.check(folder, position(0, 2), position(1, 7));
    assertThat(sizes()).isEqualTo(before);
    assertThatThrownBy(() -> LogInspection.check(folder, position(0, 2), position(1, 9)))
        .hasMessageContaining("were committed");
    assertThat(sizes()).isEqualTo(before);
  }

  private Map<String, Long> sizes() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder.current())) {
      for (Path file : files.toList()) {
        sizes.put(file.getFileName().toString(), Files.size(file));
      }
    }
    return sizes;
  }

  private LogPosition inspect(LogPosition recovered, LogPosition mark) throws IOException {
    return LogInspection.inspect(folder, recovered, mark, d -> {});
  }

  private static LogPosition position(long term, long index) {
    return new LogPosition(term, index);
  }

  private void write(String name, byte[] content) throws IOException {
    Files.write(folder.current().resolve(name), content);
  }

  /** As Ratis writes it. */
  private static byte[] segment(long from, long to, long term) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write("RaftLog1".getBytes(StandardCharsets.US_ASCII));
    for (long index = from; index <= to; index++) {
      ByteArrayOutputStream record = new ByteArrayOutputStream();
      LogEntryProto.newBuilder()
          .setTerm(term)
          .setIndex(index)
          .setMetadataEntry(MetadataProto.newBuilder().setCommitIndex(1L << 40))
          .build()
          .writeDelimitedTo(record);
      CRC32C crc = new CRC32C();
      crc.update(record.toByteArray());
      record.writeTo(out);
      new DataOutputStream(out).writeInt((int) crc.getValue());
    }
    return out.toByteArray();
  }
}
