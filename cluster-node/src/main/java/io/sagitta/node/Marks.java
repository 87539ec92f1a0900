// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.node.placement.ClusterState.Mark;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * How far each group's log in this folder has certainly come: written here first, registered with
 * the metadata group afterwards, so what the cluster has seen never runs ahead of a healthy folder.
 * Of the metadata group only the term is marked, since registering marks is itself an entry of its
 * log.
 */
final class Marks {
  private static final int MARK_BYTES = 32;

  private final SmallFile file;
  private SortedMap<UUID, Mark> marks;

  Marks(DataFolder folder) throws IOException {
    this.file = new SmallFile(folder.root().resolve("marks"), "SGMARKS1", 1);
    this.marks = file.read().map(Marks::decode).orElseGet(TreeMap::new);
  }

  synchronized SortedMap<UUID, Mark> current() {
    return new TreeMap<>(marks);
  }

  /**
   * Reads the hosts' positions and writes the file if any has moved.
   *
   * @return whether any has
   */
  synchronized boolean update(RaftHost metaHost, RaftHost shardHost) throws IOException {
    SortedMap<UUID, Mark> now = new TreeMap<>();
    for (GroupStatus status : metaHost.groups()) {
      now.put(status.group().value(), later(status, 0));
    }
    for (GroupStatus status : shardHost.groups()) {
      now.put(status.group().value(), later(status, Math.max(0, status.appliedIndex())));
    }
    if (now.equals(marks)) {
      return false;
    }
    file.write(encode(now));
    marks = now;
    return true;
  }

  private Mark later(GroupStatus status, long index) {
    Mark before = marks.getOrDefault(status.group().value(), new Mark(0, 0));
    return new Mark(Math.max(before.term(), status.term()), Math.max(before.index(), index));
  }

  private static byte[] encode(SortedMap<UUID, Mark> marks) {
    ByteBuffer out = ByteBuffer.allocate(marks.size() * MARK_BYTES);
    marks.forEach(
        (group, mark) ->
            out.putLong(group.getMostSignificantBits())
                .putLong(group.getLeastSignificantBits())
                .putLong(mark.term())
                .putLong(mark.index()));
    return out.array();
  }

  private static SortedMap<UUID, Mark> decode(byte[] bytes) {
    SortedMap<UUID, Mark> marks = new TreeMap<>();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    while (in.remaining() >= MARK_BYTES) {
      marks.put(new UUID(in.getLong(), in.getLong()), new Mark(in.getLong(), in.getLong()));
    }
    return marks;
  }
}
