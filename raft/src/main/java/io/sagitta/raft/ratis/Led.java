// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import java.util.concurrent.CompletableFuture;

/** A group as {@link ReadBarrier} needs it. Two of the same group are equal. */
interface Led {
  GroupId id();

  /**
   * How things stand now: first the term, then the role, then the voters, then the commit index.
   *
   * @throws NotLeader unless this peer leads the group and is ready, having applied an entry of the
   *     term
   */
  Standing look();

  /** Proposes a no-op entry; answers its index once it is committed. */
  CompletableFuture<Long> noop();

  /**
   * How things stand at a leader.
   *
   * @param run what runs the group here; another one after a restart, and the term may be the same
   */
  record Standing(Object run, long term, Voters voters, long commitIndex) {
    boolean isSameLeadership(Standing later) {
      return run.equals(later.run) && term == later.term;
    }
  }
}
