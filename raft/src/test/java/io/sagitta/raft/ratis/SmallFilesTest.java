// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.Peer;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import io.sagitta.raft.ratis.HostedGroups.Entry;
import io.sagitta.raft.ratis.HostedGroups.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that the host keeps beside Ratis': marks, the list of groups, install records. */
class SmallFilesTest {
  private static final DirectoryFsync NO_FSYNC = d -> {};

  private Path folder;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    folder = temporary;
  }

  @Test
  void aMarkMovesForwardOnlyAndIsReadBack() throws Exception {
    Path file = folder.resolve("mark");
    HighWaterMark mark = HighWaterMark.create(file, NO_FSYNC);
    assertThat(HighWaterMark.read(file).position()).isEqualTo(LogPosition.NONE);
    mark.advance(new LogPosition(1, 10));
    mark.advance(new LogPosition(1, 9));
    assertThat(HighWaterMark.read(file).position()).isEqualTo(new LogPosition(1, 10));
    mark.advance(new LogPosition(2, 11));
    assertThat(HighWaterMark.read(file).position()).isEqualTo(new LogPosition(2, 11));
  }

  @Test
  void aTornMarkLeavesTheOneBefore() throws Exception {
    Path file = folder.resolve("mark");
    HighWaterMark mark = HighWaterMark.create(file, NO_FSYNC);
    mark.advance(new LogPosition(1, 10));
    mark.advance(new LogPosition(1, 20));
    byte[] whole = Files.readAllBytes(file);
    for (int slot = 0; slot < 2; slot++) {
      byte[] torn = whole.clone();
      for (int i = 20; i < 40; i++) {
        torn[slot * HighWaterMark.SLOT_BYTES + i] ^= 0x55;
      }
      Files.write(file, torn);
      assertThat(HighWaterMark.read(file).position())
          .isEqualTo(new LogPosition(1, slot == 0 ? 10 : 20));
    }
  }

  @Test
  void theListOfGroupsIsReadBackAndDamageIsFound() throws Exception {
    Path file = folder.resolve("hosted");
    HostedGroups groups = HostedGroups.open(file, NO_FSYNC);
    GroupId one = new GroupId(UUID.randomUUID());
    GroupId two = new GroupId(UUID.randomUUID());
    Entry entry = new Entry(Phase.HOSTED, List.of(new Peer("a", "h:1"), new Peer("b", "h:2")));
    groups.put(one, entry);
    groups.put(two, new Entry(Phase.REMOVING, List.of()));
    assertThat(HostedGroups.open(file, NO_FSYNC).entries()).isEqualTo(groups.entries()).hasSize(2);
    groups.remove(two);
    assertThat(HostedGroups.open(file, NO_FSYNC).entries()).containsOnlyKeys(one);
    byte[] whole = Files.readAllBytes(file);
    for (int i = 0; i < whole.length; i++) {
      byte[] flipped = whole.clone();
      flipped[i] ^= 1;
      Files.write(file, flipped);
      assertThatThrownBy(() -> HostedGroups.open(file, NO_FSYNC)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void anInstallRecordIsReadBackAndDamageIsFound() throws Exception {
    Path file = folder.resolve("install");
    assertThat(InstallRecord.read(file)).isEmpty();
    new InstallRecord(
            new Checkpoint(new LogPosition(3, 99), new byte[] {1, 2, 3}), new byte[] {4, 5})
        .write(file, NO_FSYNC);
    InstallRecord read = InstallRecord.read(file).orElseThrow();
    assertThat(read.checkpoint().position()).isEqualTo(new LogPosition(3, 99));
    assertThat(read.checkpoint().manifest()).containsExactly(1, 2, 3);
    assertThat(read.configuration()).containsExactly(4, 5);
    byte[] cut = Files.readAllBytes(file);
    Files.write(file, java.util.Arrays.copyOf(cut, cut.length - 1));
    assertThatThrownBy(() -> InstallRecord.read(file)).isInstanceOf(IOException.class);
  }

  @Test
  void aBindingVoteIsReadBackAndDamageIsFound() throws Exception {
    Path file = folder.resolve("vote");
    BindingVote.read(file, NO_FSYNC).advance(7, "b");
    byte[] whole = Files.readAllBytes(file);
    for (int i = 0; i < whole.length; i++) {
      byte[] flipped = whole.clone();
      flipped[i] ^= 1;
      Files.write(file, flipped);
      assertThatThrownBy(() -> BindingVote.read(file, NO_FSYNC))
          .isInstanceOf(DamageException.class)
          .hasMessageContaining(file.toString());
    }
    Files.write(file, whole);
    assertVote(file, 7, "b", true);
    assertVote(file, 8, "", true);
    assertVote(file, 7, "self", true); // its own candidacy, in the very term
    assertVote(file, 7, "c", false);
    assertVote(file, 7, "", false);
    assertVote(file, 6, "b", false);
  }

  @Test
  void aBindingVoteNeverGoesBack() throws Exception {
    Path file = folder.resolve("vote");
    assertVote(file, 0, "", true); // nothing was promised yet
    BindingVote vote = BindingVote.read(file, NO_FSYNC);
    vote.advance(7, "");
    assertVote(file, 7, "b", true);
    vote.advance(7, "b");
    vote.advance(7, "");
    vote.advance(6, "c");
    assertVote(file, 7, "", false);
    assertVote(file, 6, "c", false);
    vote.advance(8, "");
    assertVote(file, 7, "b", false);
    assertVote(file, 8, "c", true);
  }

  private static void assertVote(Path file, long term, String votedFor, boolean kept)
      throws IOException {
    BindingVote read = BindingVote.read(file, NO_FSYNC);
    var check = assertThatCode(() -> read.check(Path.of("raft-meta"), term, votedFor, "self"));
    if (kept) {
      check.doesNotThrowAnyException();
    } else {
      check.isInstanceOf(DamageException.class).hasMessageContaining("raft-meta is damaged");
    }
  }

  @Test
  void noFlippedBitOfASealedConfigurationChangesItsVoters() throws Exception {
    GroupFolder group = new GroupFolder(folder);
    Files.createDirectories(group.current());
    Files.createDirectories(group.configurationSeal().getParent());
    LogEntryProto entry =
        LogEntryProto.newBuilder()
            .setTerm(3)
            .setIndex(300)
            .setConfigurationEntry(
                RaftConfigurationProto.newBuilder()
                    .addPeers(peer("one", "h1:1"))
                    .addPeers(peer("two", "h2:2")))
            .build();
    byte[] whole = entry.toByteArray();
    Files.write(group.configurationFile(), whole);
    ConfigurationSeal.check(group); // not sealed yet
    ConfigurationSeal.write(group, NO_FSYNC);
    ConfigurationSeal.check(group);
    int found = 0;
    for (int bit = 0; bit < whole.length * 8; bit++) {
      byte[] flipped = whole.clone();
      flipped[bit / 8] ^= (byte) (1 << (bit % 8));
      Files.write(group.configurationFile(), flipped);
      try {
        ConfigurationSeal.check(group);
      } catch (DamageException e) {
        found++;
        continue;
      }
      assertThat(LogEntryProto.parseFrom(flipped).getConfigurationEntry())
          .isEqualTo(entry.getConfigurationEntry());
    }
    assertThat(found).isGreaterThan(whole.length * 6);
    // A later configuration whose seal a crash prevented; then that of a peer for the same entry.
    Files.write(group.configurationFile(), entry.toBuilder().setIndex(301).build().toByteArray());
    ConfigurationSeal.check(group);
    ConfigurationSeal.remove(group, NO_FSYNC);
    Files.write(group.configurationFile(), entry.toBuilder().setTerm(0).build().toByteArray());
    ConfigurationSeal.check(group);
  }

  private static RaftPeerProto peer(String id, String address) {
    return RaftPeerProto.newBuilder()
        .setId(ByteString.copyFromUtf8(id))
        .setAddress(address)
        .build();
  }
}
