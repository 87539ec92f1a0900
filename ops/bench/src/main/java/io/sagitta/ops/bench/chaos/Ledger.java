// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What was asked of the cluster and what is known of it, kept outside the cluster. Each write is
 * entered before it is sent and settled when its outcome is known; both are lines of a file too, so
 * that a failing run can be read.
 *
 * <p>An id has at most one write under way, and after an unknown outcome none until a check has
 * seen what became of it ({@link #resolve}). So there are at most two states in which an id may be
 * found. Safe for several threads.
 */
public final class Ledger implements AutoCloseable {
  /** What is known of one id. */
  static final class Entry {
    /** The state that the last settled write left. */
    Presence settled = Presence.NEVER;

    /** Log index at which {@link #settled} was acknowledged; -1 where that is not known. */
    long settledIndex = -1;

    /** A write under way, or whose outcome is unknown. */
    Optional<Write> open = Optional.empty();

    /** {@code _version} with which {@link #settled} was seen before; -1 where it was not. */
    long seenVersion = -1;
  }

  private final BufferedWriter file;
  private final Map<Long, Entry> entries = new TreeMap<>();
  private final Map<Long, Write> unknown = new TreeMap<>();
  private final ShardOf shardOf;
  private long writes;
  private long acknowledged;
  private long refused;
  private long unknowns;
  private final List<Violation> conflicts = new ArrayList<>();

  /** Which shard an id belongs to. */
  public interface ShardOf {
    int shard(long id);
  }

  public Ledger(Path path, ShardOf shardOf) {
    this.shardOf = shardOf;
    try {
      file = Files.newBufferedWriter(path);
    } catch (IOException e) {
      throw new UncheckedIOException("the ledger " + path + " cannot be written", e);
    }
  }

  /** Enters a write that is about to be sent; its ids must be {@link #isFree free}. */
  public synchronized Write begin(Write.Kind kind, int writer, List<Write.Point> points) {
    Write write = new Write(++writes, kind, writer, points);
    for (Write.Point point : points) {
      Entry entry = entries.computeIfAbsent(point.id(), unused -> new Entry());
      if (entry.open.isPresent()) {
        throw new IllegalStateException("id " + point.id() + " has a write under way");
      }
      entry.open = Optional.of(write);
    }
    line("begin", write, points.toString());
    return write;
  }

  /** Enters what became of a write. */
  public synchronized void settle(Write write, Outcome outcome) {
    line("settle", write, outcome.toString());
    switch (outcome) {
      case Outcome.Acknowledged ack -> {
        acknowledged++;
        write.points().forEach(point -> acknowledge(write, point, ack));
      }
      case Outcome.Refused no -> {
        refused++;
        write.points().forEach(point -> entry(point).open = Optional.empty());
      }
      case Outcome.Unknown nobodyKnows -> {
        unknowns++;
        unknown.put(write.number(), write);
      }
    }
  }

  private void acknowledge(Write write, Write.Point point, Outcome.Acknowledged ack) {
    Entry entry = entry(point);
    entry.open = Optional.empty();
    if (ack.rejected().contains(point.id())) {
      // Nobody else writes this id, so its condition held unless the write had taken effect before.
      conflicts.add(
          new Violation(
              Violation.Kind.TWICE,
              "id "
                  + point.id()
                  + ": write "
                  + write.number()
                  + " was answered by CONFLICT although nobody else writes the point"));
      return;
    }
    entry.settled = write.effect(point);
    entry.settledIndex = ack.indexes().getOrDefault(shardOf.shard(point.id()), -1L);
    entry.seenVersion = -1;
  }

  private Entry entry(Write.Point point) {
    return entries.get(point.id());
  }

  /** Whether no write of this id is under way or unknown. */
  public synchronized boolean isFree(long id) {
    Entry entry = entries.get(id);
    return entry == null || entry.open.isEmpty();
  }

  /** The state of a free id. */
  public synchronized long edition(long id) {
    Entry entry = entries.get(id);
    return entry == null ? 0 : entry.settled.edition();
  }

  /** Whether a free id's point exists. */
  public synchronized boolean isThere(long id) {
    Entry entry = entries.get(id);
    return entry != null && entry.settled.there();
  }

  /**
   * What became of an open write for one id, now that it has been read.
   *
   * @param took whether it took effect
   * @param version {@code _version} that was read
   */
  void resolve(long id, boolean took, long version) {
    Entry entry = entries.get(id);
    entry.open.ifPresent(
        write -> {
          if (took) {
            Write.Point point =
                write.points().stream().filter(p -> p.id() == id).findFirst().orElseThrow();
            entry.settled = write.effect(point);
            entry.settledIndex = -1;
          }
        });
    entry.open = Optional.empty();
    entry.seenVersion = version;
  }

  /** Takes what is there for settled, whatever was expected: one fault is reported once. */
  void accept(long id, StoredPoint found) {
    Entry entry = entries.computeIfAbsent(id, unused -> new Entry());
    entry.open = Optional.empty();
    entry.settledIndex = -1;
    entry.settled =
        found == null
            ? Presence.absent(entry.settled.edition(), entry.settled.write())
            : Presence.present(found.edition(), entry.settled.write());
    entry.seenVersion = found == null ? -1 : found.version();
  }

  /** Conditions that failed though they could not; each is handed out once. */
  synchronized List<Violation> drainConflicts() {
    List<Violation> drained = List.copyOf(conflicts);
    conflicts.clear();
    return drained;
  }

  /** Writes whose outcome is unknown and which no check has looked at; each is handed out once. */
  List<Write> drainUnknown() {
    List<Write> drained = List.copyOf(unknown.values());
    unknown.clear();
    return drained;
  }

  Map<Long, Entry> entries() {
    return entries;
  }

  int shardOf(long id) {
    return shardOf.shard(id);
  }

  public synchronized long acknowledgedWrites() {
    return acknowledged;
  }

  public synchronized long refusedWrites() {
    return refused;
  }

  public synchronized long unknownWrites() {
    return unknowns;
  }

  /** A remark in the file, such as the beginning of a round. */
  public synchronized void remark(String text) {
    write("# " + text);
  }

  private void line(String what, Write write, String detail) {
    write(
        what
            + " "
            + write.number()
            + " "
            + write.kind()
            + " writer "
            + write.writer()
            + " "
            + detail);
  }

  private void write(String line) {
    try {
      file.write(line);
      file.newLine();
    } catch (IOException e) {
      throw new UncheckedIOException("the ledger cannot be written", e);
    }
  }

  @Override
  public synchronized void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("the ledger cannot be written", e);
    }
  }

  /** Figures of all entries: how many ids were written and how many exist. */
  public synchronized Map<String, Long> sizes() {
    Map<String, Long> sizes = new HashMap<>();
    sizes.put("ids", (long) entries.size());
    sizes.put("there", entries.values().stream().filter(e -> e.settled.there()).count());
    return sizes;
  }
}
