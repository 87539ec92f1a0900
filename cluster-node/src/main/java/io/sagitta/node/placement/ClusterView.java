// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardMap;
import io.sagitta.node.SmallFile;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.proto.State;
import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The newest state of the cluster that this process knows, wherever it came from: its own replica
 * of the metadata group, or what a member answered. It never goes back. Kept in a file too, so that
 * a node finds its peers again when it starts.
 *
 * <p>Happens-before: {@link #adopt} replaces both volatile fields under the lock and then wakes
 * those who wait; readers take whatever is there.
 */
public final class ClusterView {
  private final SmallFile file;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  private volatile ClusterState state = ClusterState.EMPTY;
  private volatile ShardMap map = ShardMap.EMPTY;
  private ClusterState written = ClusterState.EMPTY; // saver's thread

  public ClusterView(Path folder) {
    this.file = new SmallFile(folder.resolve("cluster-map"), "SGCLUMAP", 1);
  }

  /** Adopts what the file holds; it may be old, which routing copes with. */
  public void load() throws IOException {
    Optional<byte[]> content = file.read();
    if (content.isPresent()) {
      ClusterState loaded;
      try {
        loaded = Wire.state(State.parseFrom(content.get()));
      } catch (InvalidProtocolBufferException e) {
        throw new DamageException(file.path() + " holds no state of a cluster", e);
      }
      written = loaded;
      adopt(loaded);
    }
  }

  /** Writes the file if the nodes or collections have changed since. One thread at a time. */
  public void save() throws IOException {
    ClusterState now = state;
    if (now.epoch() != written.epoch() || !now.nodes().equals(written.nodes())) {
      file.write(Wire.state(now).toByteArray());
      written = now;
    }
  }

  public ClusterState state() {
    return state;
  }

  public ShardMap map() {
    return map;
  }

  public Optional<NodeEntry> node(NodeId id) {
    return Optional.ofNullable(state.nodes().get(id));
  }

  /** Takes a state unless a newer one is known. Any thread. */
  public void adopt(ClusterState candidate) {
    lock.lock();
    try {
      if (candidate.epoch() < state.epoch()) {
        return;
      }
      boolean routes = candidate.epoch() > map.epoch();
      state = candidate;
      if (routes) {
        map = candidate.toMap();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the state is as wanted; empty when the time is over. */
  public Optional<ClusterState> await(Predicate<ClusterState> wanted, Duration timeout)
      throws InterruptedException {
    long left = timeout.toNanos();
    lock.lockInterruptibly();
    try {
      while (!wanted.test(state)) {
        if (left <= 0) {
          return Optional.empty();
        }
        left = changed.awaitNanos(left);
      }
      return Optional.of(state);
    } finally {
      lock.unlock();
    }
  }
}
