// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.NodeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The nodes that refuse writes for want of disk space, as the metadata leader last named them.
 *
 * <p>A follower cannot refuse what its leader sends, so a leader whose own disk is empty would fill
 * the others to the last byte and stop their logs. It therefore refuses while the voters that have
 * room, itself among them, are no majority. Where a minority is full the shard goes on: its
 * majority holds every write, and a full follower catches up when there is room.
 *
 * <p>The word is a second old, and counts for {@link #VALID}: where nobody leads the metadata
 * group, nobody is taken for full. Any thread.
 */
public final class FullDisks {
  /** How long a word counts; it comes anew every second. */
  static final Duration VALID = Duration.ofSeconds(10);

  private record Heard(Set<NodeId> full, long atNanos) {}

  private final LongSupplier nanoTime;
  private volatile Heard heard;

  /** Nobody has been heard of. */
  public FullDisks(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.heard = new Heard(Set.of(), nanoTime.getAsLong());
  }

  /** The metadata leader names all that are full. */
  public void heard(Collection<NodeId> full) {
    heard = new Heard(Set.copyOf(full), nanoTime.getAsLong());
  }

  /** Whether any node is known to be full. */
  boolean any() {
    return !current().isEmpty();
  }

  /** Why voters cannot take a write, where those with room are no majority. */
  Optional<String> refusal(Collection<NodeId> voters) {
    Set<NodeId> now = current();
    List<NodeId> full = new ArrayList<>(voters);
    full.retainAll(now);
    if (2 * (voters.size() - full.size()) > voters.size()) {
      return Optional.empty();
    }
    return Optional.of(
        "the disks of "
            + full.size()
            + " of the shard's "
            + voters.size()
            + " replicas are full (nodes "
            + full.stream().map(NodeId::toString).sorted().toList()
            + "): delete points, or make room there");
  }

  private Set<NodeId> current() {
    Heard now = heard;
    return nanoTime.getAsLong() - now.atNanos > VALID.toNanos() ? Set.of() : now.full;
  }
}
