// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.raft.DamageException;
import io.sagitta.raft.DamagedStateException;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.ReplicatedState;
import io.sagitta.shard.CheckpointReceiver;
import io.sagitta.shard.DamagedCheckpointException;
import io.sagitta.shard.DamagedShard;
import io.sagitta.shard.Shard;
import io.sagitta.shard.ShardOptions;
import io.sagitta.shard.ShardState;
import io.sagitta.shard.format.CorruptFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The shard replicas open in this process. Raft opens and closes them as it starts and stops their
 * groups; everyone else looks them up here.
 */
public final class Replicas implements RaftHost.StateFactory {
  private final Function<ShardId, Path> folders;
  private final ShardOptions options;
  private final BufferAllocator allocator;
  private final Map<ShardId, ShardReplica> open = new ConcurrentHashMap<>();

  /** Under repair; none of them is open. */
  private final Map<ShardId, DamagedShard> damaged = new ConcurrentHashMap<>();

  /**
   * No replica yet.
   *
   * @param folders where a shard's files lie
   * @param allocator memory of all shards
   */
  public Replicas(
      Function<ShardId, Path> folders, ShardOptions options, BufferAllocator allocator) {
    this.folders = folders;
    this.options = options;
    this.allocator = allocator;
  }

  @Override
  public ReplicatedState open(GroupId group) throws IOException {
    ShardId id = new ShardId(group.value());
    Path folder = folders.apply(id);
    Files.createDirectories(folder);
    Shard shard;
    try {
      shard = Shard.open(folder, options, allocator);
    } catch (CorruptFileException e) {
      throw new DamageException("in " + folder + ", " + e.getMessage(), e);
    } catch (DamagedCheckpointException e) {
      throw new DamagedStateException(e.getMessage(), e.index(), e);
    }
    ShardReplica replica = new ShardReplica(id, shard, () -> open.remove(id));
    open.put(id, replica);
    return replica;
  }

  @Override
  public boolean replaceDamaged(GroupId group, ReplicatedState.Checkpoint checkpoint)
      throws IOException {
    ShardId id = new ShardId(group.value());
    DamagedShard shard = damaged.get(id);
    if (shard == null) {
      shard = DamagedShard.open(folders.apply(id)); // a repair that was cut short
    }
    if (!shard.missingFiles(checkpoint.manifest()).isEmpty()) {
      return false;
    }
    shard.install(checkpoint.manifest());
    damaged.remove(id);
    return true;
  }

  /**
   * The shard that a peer's checkpoint can be received into, until Raft has replaced it or {@link
   * #endRepairs}.
   */
  DamagedShard beginRepair(ShardId id) throws IOException {
    if (open.containsKey(id)) {
      throw new IOException("shard " + id + " is open");
    }
    DamagedShard shard = damaged.get(id);
    if (shard == null) {
      shard = DamagedShard.open(folders.apply(id));
      damaged.put(id, shard);
    }
    return shard;
  }

  /** Forgets what is not being repaired any more. */
  void endRepairs(Collection<ShardId> stillDamaged) {
    damaged.keySet().retainAll(stillDamaged);
  }

  /** Where a checkpoint of a shard can arrive: a replica that runs, or one under repair. */
  Optional<CheckpointReceiver> receiver(ShardId id) {
    ShardReplica replica = open.get(id);
    return replica != null ? Optional.of(replica.shard()) : Optional.ofNullable(damaged.get(id));
  }

  Optional<ShardReplica> find(ShardId shard) {
    return Optional.ofNullable(open.get(shard));
  }

  /** The replica, or UNAVAILABLE where it is not here or has not begun. */
  ShardReplica require(ShardId shard) {
    ShardReplica replica = open.get(shard);
    if (replica == null) {
      throw SagittaException.unavailable("shard " + shard + " is not on this node", 100);
    }
    if (!replica.initialised()) {
      throw SagittaException.unavailable("shard " + shard + " is being created", 100);
    }
    return replica;
  }

  /** All that are open. */
  List<ShardId> ids() {
    return List.copyOf(open.keySet());
  }

  /** The same themselves. */
  List<ShardReplica> open() {
    return List.copyOf(open.values());
  }

  /** Bytes of vectors that have yet to get into a graph. */
  public long indexWaitingBytes() {
    return open.values().stream()
        .mapToLong(replica -> replica.shard().indexer().lag().waitingBytes())
        .sum();
  }

  /** About how many bytes the rows in memory will take on disk. */
  public long unflushedBytes() {
    return open.values().stream().mapToLong(replica -> replica.shard().unflushedBytes()).sum();
  }

  /** Has every shard take up what was put off for want of room. */
  public void retryPutOff() {
    open.values().forEach(replica -> replica.shard().retryPutOff());
  }

  /** A replica's shard as it is now. */
  public Optional<ShardState> state(ShardId shard) {
    return find(shard).map(replica -> replica.shard().state());
  }
}
