// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;

/**
 * The dumbest replicated state with durable checkpoints: the last value written, the number of
 * entries, and a hash over all of them in order, so that two replicas agree only if they applied
 * the same.
 *
 * <p>An entry is 8 bytes of value and any payload. The outcome is the number of entries. A
 * checkpoint is one data file {@code data-<index>} and a manifest that names it; {@code current} is
 * the newest manifest.
 */
final class RegisterState implements ReplicatedState {
  /** The value that makes apply fail. */
  static final long POISON = -666;

  private final Path directory;
  private final BooleanSupplier failInstalls;
  private long value;
  private long count;
  private long hash;
  private BitSet seen = new BitSet();
  private LogPosition at = LogPosition.NONE;
  private final LogPosition recovered;
  private volatile Checkpoint checkpoint;
  private int checkpointWishes;
  private boolean ignoreCheckpointWishes;
  volatile boolean closed;
  volatile int installs;
  volatile long slowApplyMs;

  RegisterState(Path directory, BooleanSupplier failInstalls) throws IOException {
    this.directory = directory;
    this.failInstalls = failInstalls;
    Files.createDirectories(directory);
    Path current = directory.resolve("current");
    if (Files.exists(current)) {
      load(parse(Files.readAllBytes(current)));
    }
    recovered = at;
  }

  @Override
  public LogPosition recovered() {
    return recovered;
  }

  @Override
  public synchronized byte[] apply(LogPosition position, ByteBuffer entry) throws IOException {
    if (position.index() <= at.index()) {
      throw new IOException("applied twice: " + position + " at " + at);
    }
    if (slowApplyMs > 0) {
      sleep(slowApplyMs);
    }
    long next = entry.getLong(entry.position());
    if (next == POISON) {
      throw new IOException("poisoned entry");
    }
    CRC32C crc = new CRC32C();
    crc.update(entry.duplicate());
    value = next;
    count++;
    if (value >= 0) {
      seen.set((int) value);
    }
    hash = hash * 31 + crc.getValue();
    at = position;
    return ByteBuffer.allocate(8).putLong(count).array();
  }

  @Override
  public Optional<Checkpoint> checkpointed() {
    return Optional.ofNullable(checkpoint);
  }

  /** How often a checkpoint has been asked for. */
  synchronized int checkpointWishes() {
    return checkpointWishes;
  }

  /** From now on it is deaf to them, or no longer. */
  synchronized void ignoreCheckpointWishes(boolean ignore) {
    ignoreCheckpointWishes = ignore;
  }

  @Override
  public synchronized void requestCheckpoint() {
    checkpointWishes++;
    if (ignoreCheckpointWishes) {
      return;
    }
    if (at.index() < 0 || (checkpoint != null && checkpoint.position().equals(at))) {
      return;
    }
    try {
      byte[] bits = seen.toByteArray();
      ByteBuffer data =
          ByteBuffer.allocate(24 + bits.length)
              .putLong(value)
              .putLong(count)
              .putLong(hash)
              .put(bits)
              .flip();
      DurableFile.replace(directory.resolve("data-" + at.index()), data, DirectoryFsync.REAL);
      publish(new Checkpoint(at, manifest(at)));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean holds(Checkpoint asked) {
    return Files.exists(directory.resolve("data-" + asked.position().index()));
  }

  @Override
  public synchronized void install(Checkpoint installed) throws IOException {
    if (failInstalls.getAsBoolean()) {
      throw new IOException("install fails as asked");
    }
    if (!holds(installed)) {
      throw new IOException("not prefetched: " + installed.position());
    }
    load(installed);
    publish(installed);
    installs++;
  }

  @Override
  public void close() {
    closed = true;
  }

  synchronized String digest() {
    return value + "/" + count + "/" + Long.toHexString(hash);
  }

  synchronized long value() {
    return value;
  }

  synchronized long count() {
    return count;
  }

  /** All values at or above 0 that were ever applied. */
  synchronized BitSet seen() {
    return (BitSet) seen.clone();
  }

  synchronized LogPosition at() {
    return at;
  }

  Path directory() {
    return directory;
  }

  private void publish(Checkpoint next) throws IOException {
    DurableFile.replace(
        directory.resolve("current"), ByteBuffer.wrap(next.manifest()), DirectoryFsync.REAL);
    checkpoint = next;
  }

  private void load(Checkpoint from) throws IOException {
    ByteBuffer data =
        ByteBuffer.wrap(Files.readAllBytes(directory.resolve("data-" + from.position().index())));
    value = data.getLong();
    count = data.getLong();
    hash = data.getLong();
    seen = BitSet.valueOf(data);
    at = from.position();
    checkpoint = from;
  }

  static byte[] manifest(LogPosition at) {
    return ByteBuffer.allocate(16).putLong(at.term()).putLong(at.index()).array();
  }

  static Checkpoint parse(byte[] manifest) {
    ByteBuffer in = ByteBuffer.wrap(manifest);
    return new Checkpoint(new LogPosition(in.getLong(), in.getLong()), manifest);
  }

  private static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
