// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.Peer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The list of groups that this host is meant to hold, in one small file that is replaced whole.
 * Without it Ratis would format an empty folder for a group whose folder has vanished, and let it
 * vote.
 *
 * <p>Body: number of groups; for each its UUID, {@link Phase} and first voters (id and address in
 * modified UTF-8).
 */
final class HostedGroups {
  private static final int MAGIC = 0x53474847; // "SGHG"
  private static final int VERSION = 1;

  /** Where in its life a group is; each change is durable before the step that it announces. */
  enum Phase {
    /** Its folder is being made; it has not answered anyone if the folder is not there. */
    CREATING,
    /** Its folder must be there. */
    HOSTED,
    /** Its folder is being deleted. */
    REMOVING
  }

  /**
   * A line of the list.
   *
   * @param voters the voters it was created with; empty if it was to wait silently
   */
  record Entry(Phase phase, List<Peer> voters) {}

  private final Path file;
  private final DirectoryFsync fsync;
  private final Map<GroupId, Entry> entries;

  private HostedGroups(Path file, DirectoryFsync fsync, Map<GroupId, Entry> entries) {
    this.file = file;
    this.fsync = fsync;
    this.entries = entries;
  }

  static HostedGroups open(Path file, DirectoryFsync fsync) throws IOException {
    Map<GroupId, Entry> entries = new LinkedHashMap<>();
    Optional<ByteBuffer> body = SealedFile.read(file, MAGIC, VERSION);
    if (body.isPresent()) {
      parse(body.get(), entries);
    }
    return new HostedGroups(file, fsync, entries);
  }

  synchronized Map<GroupId, Entry> entries() {
    return new LinkedHashMap<>(entries);
  }

  synchronized void put(GroupId group, Entry entry) throws IOException {
    Map<GroupId, Entry> changed = new LinkedHashMap<>(entries);
    changed.put(group, entry);
    write(changed);
  }

  synchronized void remove(GroupId group) throws IOException {
    Map<GroupId, Entry> changed = new LinkedHashMap<>(entries);
    if (changed.remove(group) != null) {
      write(changed);
    }
  }

  private void write(Map<GroupId, Entry> changed) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(changed.size());
    for (Map.Entry<GroupId, Entry> e : changed.entrySet()) {
      out.writeLong(e.getKey().value().getMostSignificantBits());
      out.writeLong(e.getKey().value().getLeastSignificantBits());
      out.writeByte(e.getValue().phase().ordinal());
      out.writeInt(e.getValue().voters().size());
      for (Peer peer : e.getValue().voters()) {
        out.writeUTF(peer.id());
        out.writeUTF(peer.address());
      }
    }
    SealedFile.write(file, MAGIC, VERSION, bytes.toByteArray(), fsync);
    entries.clear();
    entries.putAll(changed);
  }

  private static void parse(ByteBuffer body, Map<GroupId, Entry> entries) throws IOException {
    byte[] bytes = new byte[body.remaining()];
    body.get(bytes);
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int count = in.readInt();
      for (int i = 0; i < count; i++) {
        GroupId group = new GroupId(new UUID(in.readLong(), in.readLong()));
        Phase phase = Phase.values()[in.readByte()];
        List<Peer> voters = new ArrayList<>();
        int peers = in.readInt();
        for (int j = 0; j < peers; j++) {
          voters.add(new Peer(in.readUTF(), in.readUTF()));
        }
        entries.put(group, new Entry(phase, List.copyOf(voters)));
      }
    }
  }
}
