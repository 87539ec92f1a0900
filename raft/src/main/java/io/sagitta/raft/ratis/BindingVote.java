// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The term and the vote by which a peer is bound, kept beside Ratis' vote file, which has no
 * checksum: a flipped digit would let the peer vote twice in a term, and two leaders acknowledge
 * different entries.
 *
 * <p>It is written after Ratis' file and before the answer that makes the vote binding leaves. So
 * at start Ratis' file says the same or something later. Within a term it may only go from no vote
 * to one, and from another's to this peer's own (see {@code PeerGate}).
 *
 * <p>Body: term (8 bytes), then the id voted for in UTF-8, empty for nobody.
 */
final class BindingVote {
  private static final int MAGIC = 0x53475654; // "SGVT"
  private static final int VERSION = 1;

  private final Path file;
  private final DirectoryFsync fsync;

  // Guarded by this.
  private long term;
  private String votedFor;

  private BindingVote(Path file, DirectoryFsync fsync, long term, String votedFor) {
    this.file = file;
    this.fsync = fsync;
    this.term = term;
    this.votedFor = votedFor;
  }

  /** As the file has it; term -1 where nothing was ever promised. */
  static BindingVote read(Path file, DirectoryFsync fsync) throws IOException {
    Optional<ByteBuffer> body = SealedFile.read(file, MAGIC, VERSION);
    if (body.isEmpty()) {
      return new BindingVote(file, fsync, -1, "");
    }
    long term = body.get().getLong();
    String votedFor = StandardCharsets.UTF_8.decode(body.get()).toString();
    return new BindingVote(file, fsync, term, votedFor);
  }

  /** What Ratis' file holds now becomes binding; durable on return. */
  synchronized void advance(long toTerm, String toVotedFor) throws IOException {
    if (toTerm < term
        || (toTerm == term && (toVotedFor.isEmpty() || toVotedFor.equals(votedFor)))) {
      return;
    }
    byte[] id = toVotedFor.getBytes(StandardCharsets.UTF_8);
    ByteBuffer body = ByteBuffer.allocate(8 + id.length).putLong(toTerm).put(id);
    SealedFile.write(file, MAGIC, VERSION, body.array(), fsync);
    term = toTerm;
    votedFor = toVotedFor;
  }

  /**
   * Compares with what Ratis' file says.
   *
   * @param voteFile for the message
   * @param self the id of this peer
   * @throws DamageException where that goes back on a promise
   */
  synchronized void check(Path voteFile, long foundTerm, String foundVote, String self)
      throws DamageException {
    boolean kept =
        foundTerm > term
            || (foundTerm == term
                && (votedFor.isEmpty() || foundVote.equals(votedFor) || foundVote.equals(self)));
    if (!kept) {
      throw new DamageException(
          "file %s is damaged: expected term %d and vote '%s' or later, found term %d and vote '%s'"
              .formatted(voteFile, term, votedFor, foundTerm, foundVote));
    }
  }
}
