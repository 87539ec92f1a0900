// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriterId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * What a shard remembers of its writers, so that each of their entries takes effect once
 * (docs/protocol.md, section 4). Deterministic: all replicas remember and forget the same. Apply
 * thread only.
 *
 * <p>Forgetting is safe because it leaves a mark: within a writer the last key forgotten, of a
 * whole writer {@link #horizonMs}. What may lie behind a mark is refused, never applied.
 */
final class Sessions {
  /** Outcomes remembered of one writer. */
  static final int OUTCOMES_MAX = 1_024;

  /** Bytes of outcomes remembered of one writer, so that rejects with long messages are bounded. */
  static final long WRITER_BYTES_MAX = 1 << 20;

  /** Writers remembered. */
  static final int WRITERS_MAX = 10_000;

  /** Bytes of outcomes remembered in all: they are in memory and in every checkpoint. */
  static final long BYTES_MAX = 64 << 20;

  /** {@link #horizonMs} while no writer was ever forgotten. */
  static final long NO_HORIZON = -1;

  private static final Comparator<Session> LEAST_RECENTLY_ACTIVE =
      Comparator.<Session>comparingLong(s -> s.lastActiveMs)
          .thenComparing(s -> s.writer.uuid(), UUID::compareTo)
          .thenComparingLong(s -> s.writer.openedAtMs());

  private final Map<WriterId, Session> sessions = new HashMap<>();
  private final TreeSet<Session> byActivity = new TreeSet<>(LEAST_RECENTLY_ACTIVE);
  private long horizonMs;
  private long bytes;

  /** Nobody, and nobody forgotten. */
  Sessions() {
    this(NO_HORIZON);
  }

  /** Nobody yet, to be filled by {@link #restore}. */
  Sessions(long horizonMs) {
    this.horizonMs = horizonMs;
  }

  /** Latest last activity of any writer forgotten. */
  long horizonMs() {
    return horizonMs;
  }

  int writers() {
    return sessions.size();
  }

  /** The first outcome of an entry that has been applied before. */
  Optional<WriteOutcome.Applied> replay(WriteKey key) {
    Session session = sessions.get(key.writer());
    return session == null
        ? Optional.empty()
        : Optional.ofNullable(session.outcomes.get(new Key(key.seq(), key.piece())));
  }

  /** Whether an entry that {@link #replay} does not know has certainly never been applied. */
  boolean admits(WriteKey key) {
    Session session = sessions.get(key.writer());
    return session == null
        ? key.writer().openedAtMs() > horizonMs
        : session.forgotten.compareTo(new Key(key.seq(), key.piece())) < 0;
  }

  /** Remembers the outcome of an admitted entry, and forgets what the bounds or the writer say. */
  void remember(WriteKey key, WriteOutcome.Applied outcome, long stateTimeMs) {
    Session session = sessions.get(key.writer());
    if (session == null) {
      session = new Session(key.writer());
      sessions.put(key.writer(), session);
    } else {
      byActivity.remove(session);
      bytes -= session.bytes;
    }
    session.lastActiveMs =
        Math.max(session.lastActiveMs, Math.max(stateTimeMs, key.writer().openedAtMs()));
    session.put(new Key(key.seq(), key.piece()), outcome);
    session.forgetBelow(new Key(key.ackedBelow(), 0));
    session.forgetBeyondBounds();
    bytes += session.bytes;
    byActivity.add(session);
    while (sessions.size() > WRITERS_MAX || bytes > BYTES_MAX) {
      evict(byActivity.first());
    }
  }

  /** Shows everything, for a checkpoint, in an order that is the same on every replica. */
  void forEach(Visitor visitor) {
    for (Session session : byActivity) {
      visitor.writer(session.writer, session.lastActiveMs, session.forgotten, session.outcomes);
    }
  }

  /** Puts back one writer as {@link #forEach} showed it. */
  void restore(
      WriterId writer,
      long lastActiveMs,
      Key forgotten,
      NavigableMap<Key, WriteOutcome.Applied> outcomes) {
    Session session = new Session(writer);
    session.lastActiveMs = lastActiveMs;
    session.forgotten = forgotten;
    outcomes.forEach(session::put);
    bytes += session.bytes;
    sessions.put(writer, session);
    byActivity.add(session);
  }

  private void evict(Session session) {
    byActivity.remove(session);
    sessions.remove(session.writer);
    bytes -= session.bytes;
    horizonMs = Math.max(horizonMs, session.lastActiveMs);
  }

  /** Sees one writer after the other. */
  interface Visitor {
    void writer(
        WriterId writer,
        long lastActiveMs,
        Key forgotten,
        NavigableMap<Key, WriteOutcome.Applied> outcomes);
  }

  /**
   * Place of an entry among its writer's.
   *
   * @param seq sequence number of the batch
   * @param piece place of the entry among the batch's pieces
   */
  record Key(long seq, int piece) implements Comparable<Key> {
    /** Before every key there is. */
    static final Key NONE = new Key(-1, 0);

    @Override
    public int compareTo(Key other) {
      int bySeq = Long.compare(seq, other.seq);
      return bySeq != 0 ? bySeq : Integer.compare(piece, other.piece);
    }
  }

  private static final class Session {
    final WriterId writer;
    final NavigableMap<Key, WriteOutcome.Applied> outcomes = new TreeMap<>();

    /** No key at or below it that is not in {@code outcomes} may be applied. */
    Key forgotten = Key.NONE;

    long lastActiveMs = Long.MIN_VALUE;
    long bytes;

    Session(WriterId writer) {
      this.writer = writer;
    }

    void put(Key key, WriteOutcome.Applied outcome) {
      outcomes.put(key, outcome);
      bytes += bytes(outcome);
    }

    void forgetBelow(Key key) {
      while (!outcomes.isEmpty() && outcomes.firstKey().compareTo(key) < 0) {
        forgetFirst();
      }
      Key before = new Key(key.seq() - 1, Integer.MAX_VALUE);
      if (before.compareTo(forgotten) > 0) {
        forgotten = before;
      }
    }

    void forgetBeyondBounds() {
      while (outcomes.size() > OUTCOMES_MAX || (bytes > WRITER_BYTES_MAX && outcomes.size() > 1)) {
        forgetFirst();
      }
    }

    private void forgetFirst() {
      Map.Entry<Key, WriteOutcome.Applied> first = outcomes.pollFirstEntry();
      bytes -= bytes(first.getValue());
      if (first.getKey().compareTo(forgotten) > 0) {
        forgotten = first.getKey();
      }
    }

    /** Bytes held, as every replica counts them. */
    private static long bytes(WriteOutcome.Applied outcome) {
      long bytes = 64;
      for (WriteOutcome.RowReject reject : outcome.rejects()) {
        bytes += 32 + 2L * reject.message().length();
      }
      return bytes;
    }
  }
}
