// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.Shard;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Says no early: before anything is logged, so that a refused write leaves nothing behind and the
 * node stays up, goes on reading, and comes back by itself (docs/contract.md, section 7).
 */
public final class Admission {
  /** When trying again is worth it: a flush makes room in about this time. */
  private static final long RETRY_AFTER_MS = 200;

  /** A full disk, or memory full of what must stay in it, takes somebody to make room. */
  private static final long LASTING_RETRY_AFTER_MS = 5_000;

  private final MemoryBudget memory;
  private final Disk disk;
  private final FullDisks otherDisks;
  private final long bytesInFlightMax;
  private final AtomicLong bytesInFlight = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  /**
   * The gate of a node.
   *
   * @param disk whether there is room to write
   * @param otherDisks whether there is room where the other replicas lie
   * @param bytesInFlightMax of writes proposed and not yet answered
   */
  public Admission(MemoryBudget memory, Disk disk, FullDisks otherDisks, long bytesInFlightMax) {
    this.memory = memory;
    this.disk = disk;
    this.otherDisks = otherDisks;
    this.bytesInFlightMax = bytesInFlightMax;
  }

  /** What the gate asks of the disk. Cheap; any thread. */
  public interface Disk {
    /**
     * Why there is no room for an entry of so many bytes, if there is none.
     *
     * @param delete whether it only removes: what makes room must pass a full disk
     */
    Optional<String> refusal(long bytes, boolean delete);

    /** So many bytes have been let in. */
    void taken(long bytes);
  }

  /** A write that was let in; close it when it has been answered. */
  public interface Ticket extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Lets a write in.
   *
   * @param voters the nodes that vote on the shard, asked only where a disk is full
   * @param bytes of its entry
   * @param delete whether it only removes: what makes room must pass a full disk
   * @throws SagittaException UNAVAILABLE, with nothing logged
   */
  public Ticket admit(
      Shard shard, Supplier<? extends Collection<NodeId>> voters, long bytes, boolean delete) {
    Optional<String> full = disk.refusal(bytes, delete);
    if (full.isEmpty() && !delete && otherDisks.any()) {
      full = otherDisks.refusal(voters.get());
    }
    if (full.isPresent()) {
      throw refuse(full.get(), LASTING_RETRY_AFTER_MS);
    }
    if (!memory.admits(bytes)) {
      throw refuse(
          "rows not yet flushed hold "
              + memory.bytes(MemoryBudget.Part.GROWING)
              + " of "
              + memory.growingBytesMax()
              + " bytes (memory.growing_bytes)",
          RETRY_AFTER_MS);
    }
    Optional<String> crowded = delete ? Optional.empty() : residentRefusal(bytes);
    if (crowded.isPresent()) {
      throw refuse(crowded.get(), LASTING_RETRY_AFTER_MS);
    }
    if (!shard.admits(bytes)) {
      throw refuse("the shard waits for its flushes", RETRY_AFTER_MS);
    }
    if (bytesInFlight.addAndGet(bytes) > bytesInFlightMax) {
      bytesInFlight.addAndGet(-bytes);
      throw refuse(
          "writes under way hold the limit of "
              + bytesInFlightMax
              + " bytes (limits.writes_in_flight_bytes)",
          RETRY_AFTER_MS);
    }
    disk.taken(bytes);
    return () -> bytesInFlight.addAndGet(-bytes);
  }

  /** Why what a write of so many bytes leaves in memory would find no room, if there is none. */
  public Optional<String> residentRefusal(long bytes) {
    return residentRefusal(memory, bytes);
  }

  /** The same of a budget. */
  public static Optional<String> residentRefusal(MemoryBudget memory, long bytes) {
    if (memory.admitsResident(bytes)) {
      return Optional.empty();
    }
    return Optional.of(
        "vectors, codes and links hold "
            + memory.residentBytes()
            + " of "
            + memory.residentBytesMax()
            + " bytes (memory.resident_bytes), and rows written already will need "
            + memory.bytes(MemoryBudget.Part.OWED)
            + " more; deletes are not refused: raise the limit, drop a collection, or add nodes");
  }

  /** Bytes of writes under way. */
  public long bytesInFlight() {
    return bytesInFlight.get();
  }

  /** Writes refused since start. */
  public long refused() {
    return refused.get();
  }

  private SagittaException refuse(String why, long retryAfterMs) {
    refused.incrementAndGet();
    return new SagittaException(ErrorCode.UNAVAILABLE, why, retryAfterMs, null);
  }
}
