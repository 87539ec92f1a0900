// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import io.sagitta.node.replica.Admission;
import io.sagitta.shard.store.DiskRoom;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How full the data folder's file system is, and who may still write to it.
 *
 * <p>What is free is not free to be taken: rows in memory will be flushed and take about as many
 * bytes again, writes under way come to both the log and memory, and each log grows by whole steps.
 * So these <i>owed</i> bytes are taken off first. A write must leave the last few percent alone (5
 * by default); deletes and checkpoints, which make room, may use all of that but a fifth, which is
 * the logs' own: a Raft log that cannot be written stops its shard.
 *
 * <p>Asking is cheap: all this is looked at ten times a second at most, and what has been let in
 * since the last look is counted on top. Any thread.
 */
public final class DiskSpace implements Admission.Disk, DiskRoom {
  private static final Logger log = LoggerFactory.getLogger(DiskSpace.class);

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Of what writes leave alone, the part that deletes and checkpoints leave alone as well. */
  private static final int LOGS_SHARE = 5;

  /** A row that is let in is written twice: to the log, and when it is flushed. */
  private static final int WRITTEN_TIMES = 2;

  /** A file system. */
  public interface Volume {
    long totalBytes() throws IOException;

    long freeBytes() throws IOException;

    /** The one that a folder lies on. */
    static Volume of(Path folder) {
      return new Volume() {
        @Override
        public long totalBytes() throws IOException {
          return store().getTotalSpace();
        }

        @Override
        public long freeBytes() throws IOException {
          return store().getUsableSpace();
        }

        private FileStore store() throws IOException {
          return Files.getFileStore(folder);
        }

        @Override
        public String toString() {
          return folder.toString();
        }
      };
    }
  }

  /**
   * Bytes that will be written without anyone asking again.
   *
   * @param flushes rows in memory, and what is let in and not yet in memory
   * @param logs the next step by which each log grows
   */
  public record Owed(LongSupplier flushes, LongSupplier logs) {}

  private record Look(
      long totalBytes, long freeBytes, long flushesOwed, long logsOwed, long atNanos) {}

  private final Volume volume;
  private final int derivePercent;
  private final int refusePercent;
  private final Owed owed;
  private final LongSupplier nanoTime;
  private final AtomicLong takenSince = new AtomicLong();
  private final ReentrantLock looking = new ReentrantLock();
  private volatile Look look = new Look(0, 0, 0, 0, 0);
  private boolean failed; // under looking

  /**
   * The space of a volume, looked at once.
   *
   * @param derivePercent in use or owed from which on nothing is written that can be made again
   * @param refusePercent in use or owed from which on only deletes pass
   */
  public DiskSpace(
      Volume volume, int derivePercent, int refusePercent, Owed owed, LongSupplier nanoTime) {
    this.volume = volume;
    this.derivePercent = derivePercent;
    this.refusePercent = refusePercent;
    this.owed = owed;
    this.nanoTime = nanoTime;
    look();
  }

  /** Looks again, unless another thread is about it. A failed look leaves the figures be. */
  private void look() {
    if (!looking.tryLock()) {
      return;
    }
    try {
      // In this order, what comes in or is flushed in between counts twice for a moment; in another
      // it might not count at all.
      long seen = takenSince.get();
      long flushes = owed.flushes().getAsLong();
      long logs = owed.logs().getAsLong();
      look = new Look(volume.totalBytes(), volume.freeBytes(), flushes, logs, nanoTime.getAsLong());
      takenSince.addAndGet(-seen);
      failed = false;
    } catch (IOException e) {
      if (!failed) {
        log.warn("The free space of {} cannot be read: {}", volume, e.toString());
      }
      failed = true;
    } finally {
      looking.unlock();
    }
  }

  private Look fresh() {
    if (nanoTime.getAsLong() - look.atNanos >= LOOK_NANOS) {
      look();
    }
    return look;
  }

  // ---- figures -------------------------------------------------------------------------------

  public long totalBytes() {
    return fresh().totalBytes;
  }

  public long freeBytes() {
    return fresh().freeBytes;
  }

  /** Percent in use, rounded down; 0 where the file system does not say. */
  public int usedPercent() {
    Look now = fresh();
    return now.totalBytes <= 0 ? 0 : percent(now, now.freeBytes);
  }

  private static int percent(Look now, long spare) {
    return (int) ((now.totalBytes - Math.max(0, spare)) * 100 / now.totalBytes);
  }

  // ---- who may write -------------------------------------------------------------------------

  @Override
  public Optional<String> refusal(long bytes, boolean delete) {
    Look now = fresh();
    boolean fits =
        delete
            ? leaves(now, logged(now) - bytes, lastBytes(now))
            : leaves(now, flushed(now) - WRITTEN_TIMES * bytes, aboveBytes(now, refusePercent));
    if (fits) {
      return Optional.empty();
    }
    String full =
        "the disk is full: of "
            + now.totalBytes
            + " bytes "
            + now.freeBytes
            + " are free, and "
            + (now.flushesOwed + now.logsOwed)
            + " of them are owed to rows not yet flushed and to logs; ";
    return Optional.of(
        full
            + (delete
                ? "not even deletes can be logged: make room"
                : "writes are refused where less than "
                    + (100 - refusePercent)
                    + " % would be left; deletes are not: delete points, or make room"));
  }

  @Override
  public void taken(long bytes) {
    takenSince.addAndGet(bytes);
  }

  @Override
  public boolean forCheckpoint(long bytes) {
    Look now = fresh();
    return leaves(now, logged(now) - bytes, lastBytes(now));
  }

  @Override
  public boolean forDerived(long bytes) {
    Look now = fresh();
    return leaves(now, flushed(now) - bytes, aboveBytes(now, derivePercent));
  }

  /** What is free once everything is logged that has been let in. */
  private long logged(Look now) {
    return now.freeBytes - now.logsOwed - takenSince.get();
  }

  /** What is free once all that has been flushed as well. */
  private long flushed(Look now) {
    return now.freeBytes - now.logsOwed - now.flushesOwed - WRITTEN_TIMES * takenSince.get();
  }

  private static boolean leaves(Look now, long spare, long bytes) {
    return now.totalBytes <= 0 || spare > bytes;
  }

  private static long aboveBytes(Look now, int percent) {
    return now.totalBytes / 100 * (100 - percent);
  }

  private long lastBytes(Look now) {
    return aboveBytes(now, refusePercent) / LOGS_SHARE;
  }
}
