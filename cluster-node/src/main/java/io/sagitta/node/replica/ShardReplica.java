// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ShardId;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcomeCodec;
import io.sagitta.raft.DamagedStateException;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.Shard;
import io.sagitta.shard.ShardCheckpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * One copy of one shard, where Raft and engine meet: Raft's positions and bytes on the one side,
 * the shard's outcomes and checkpoints on the other. Adds nothing of its own to the state.
 */
final class ShardReplica implements ReplicatedState {
  private final ShardId id;
  private final Shard shard;
  private final Runnable onClose;
  private final WritePace pace = new WritePace();

  /**
   * Once true it stays so; read before each write and read, so not taken from the shard's state.
   */
  private volatile boolean initialised;

  /**
   * A replica around an open shard, which it owns.
   *
   * @param onClose called when Raft closes it, before the shard is closed
   */
  ShardReplica(ShardId id, Shard shard, Runnable onClose) {
    this.id = id;
    this.shard = shard;
    this.onClose = onClose;
    this.initialised = shard.state().initialised();
  }

  ShardId id() {
    return id;
  }

  Shard shard() {
    return shard;
  }

  /** The pace of writes that this replica proposes. */
  WritePace pace() {
    return pace;
  }

  /** Whether the shard's first entry has been applied: until then there is nothing to ask it. */
  boolean initialised() {
    return initialised;
  }

  @Override
  public LogPosition recovered() {
    return shard.recoveredIndex() < 0
        ? LogPosition.NONE
        : new LogPosition(shard.recoveredTerm(), shard.recoveredIndex());
  }

  @Override
  public byte[] apply(LogPosition at, ByteBuffer entry) throws IOException {
    WriteOutcome outcome;
    try {
      outcome = shard.apply(at.term(), at.index(), entry);
    } catch (IOException e) {
      throw cause(e);
    }
    if (!initialised) {
      initialised = shard.state().initialised();
    }
    return WriteOutcomeCodec.encode(outcome);
  }

  /** Apply reads mapped files, which may have been damaged since they were opened. */
  private IOException cause(IOException failure) {
    try {
      Optional<String> damage = damage(step -> {});
      if (damage.isPresent()) {
        return new DamagedStateException(
            failure.getMessage() + "; " + damage.get(),
            shard.checkpointed().map(ShardCheckpoint::index).orElse(-1L),
            failure);
      }
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
    return failure;
  }

  /**
   * Compares every byte of its checkpoint with the checksums: which files are bad, if any. Blocks.
   *
   * @param pace told before each step how many bytes are going to be read; it may wait
   */
  Optional<String> damage(IntConsumer pace) throws IOException {
    List<String> bad = shard.verify(pace).stream().map(CheckpointFile::name).toList();
    return bad.isEmpty()
        ? Optional.empty()
        : Optional.of("files of its checkpoint have been damaged since they were opened: " + bad);
  }

  @Override
  public Optional<Checkpoint> checkpointed() {
    return shard.checkpointed().map(ShardReplica::checkpoint);
  }

  private static Checkpoint checkpoint(ShardCheckpoint checkpoint) {
    return new Checkpoint(
        new LogPosition(checkpoint.term(), checkpoint.index()), checkpoint.manifest());
  }

  @Override
  public void requestCheckpoint() {
    shard.requestCheckpoint();
  }

  @Override
  public boolean holds(Checkpoint checkpoint) throws IOException {
    return shard.missingFiles(checkpoint.manifest()).isEmpty();
  }

  @Override
  public void install(Checkpoint checkpoint) throws IOException {
    shard.install(checkpoint.manifest());
    initialised = shard.state().initialised();
  }

  @Override
  public void close() throws IOException {
    onClose.run();
    shard.close();
  }
}
