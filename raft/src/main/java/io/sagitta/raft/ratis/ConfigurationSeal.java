// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;

/**
 * Checksum of Ratis' configuration file, which has none, although it alone says who votes once the
 * log's configuration entries are purged.
 *
 * <p>Written after each change of the file. A file with another log index than the seal's is one
 * whose seal a crash prevented; the log still has its entry then, checksummed.
 *
 * <p>Body: log index of the configuration (8 bytes), CRC32C of the file.
 */
final class ConfigurationSeal {
  private static final int MAGIC = 0x5347434e; // "SGCN"
  private static final int VERSION = 1;

  private ConfigurationSeal() {}

  /** Seals the configuration as it lies in its file; durable on return. */
  static void write(GroupFolder folder, DirectoryFsync fsync) throws IOException {
    if (!Files.exists(folder.configurationFile())) {
      return; // The group has none yet.
    }
    byte[] bytes = Files.readAllBytes(folder.configurationFile());
    ByteBuffer body = ByteBuffer.allocate(12).putLong(parse(folder, bytes).getIndex());
    body.putInt(checksum(bytes)).flip();
    if (SealedFile.read(folder.configurationSeal(), MAGIC, VERSION)
        .filter(body::equals)
        .isPresent()) {
      return;
    }
    SealedFile.write(folder.configurationSeal(), MAGIC, VERSION, body.array(), fsync);
  }

  /**
   * Breaks the seal, before the file may be replaced by other bytes for the same log index, as a
   * peer has them.
   */
  static void remove(GroupFolder folder, DirectoryFsync fsync) throws IOException {
    DurableFile.delete(folder.configurationSeal(), fsync);
  }

  /**
   * Checks the file, if there is one, against its seal, if it has one.
   *
   * @throws DamageException naming the file
   */
  static void check(GroupFolder folder) throws IOException {
    if (!Files.exists(folder.configurationFile())) {
      return;
    }
    byte[] bytes = Files.readAllBytes(folder.configurationFile());
    LogEntryProto entry = parse(folder, bytes);
    Optional<ByteBuffer> seal = SealedFile.read(folder.configurationSeal(), MAGIC, VERSION);
    if (seal.isPresent()
        && seal.get().getLong() == entry.getIndex()
        && seal.get().getInt() != checksum(bytes)) {
      throw new DamageException(
          "file " + folder.configurationFile() + " is damaged: its checksum does not match");
    }
  }

  private static LogEntryProto parse(GroupFolder folder, byte[] bytes) throws DamageException {
    InvalidProtocolBufferException cause = null;
    try {
      LogEntryProto entry = LogEntryProto.parseFrom(bytes);
      if (entry.hasConfigurationEntry() && entry.getConfigurationEntry().getPeersCount() > 0) {
        return entry;
      }
    } catch (InvalidProtocolBufferException e) {
      cause = e;
    }
    throw new DamageException(
        "file "
            + folder.configurationFile()
            + " is damaged: expected a configuration of the group with its voters",
        cause);
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
