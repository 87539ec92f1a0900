// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.GroupId;
import io.sagitta.raft.NotLeader;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;

/** A hosted group at its leader. */
record LedGroup(HostedGroup group, Function<HostedGroup, CompletableFuture<Long>> proposal)
    implements Led {
  @Override
  public GroupId id() {
    return group.id();
  }

  @Override
  public Standing look() {
    RaftServer.Division division =
        group
            .division()
            .orElseThrow(() -> new NotLeader("group " + group.id() + ": it does not run here"));
    DivisionInfo info = division.getInfo();
    long term = info.getCurrentTerm();
    if (!info.isLeader() || !info.isLeaderReady()) {
      throw new NotLeader("group " + group.id() + ": not a ready leader");
    }
    Voters voters = Voters.of(division.getRaftConf());
    return new Standing(division, term, voters, division.getRaftLog().getLastCommittedIndex());
  }

  @Override
  public CompletableFuture<Long> noop() {
    return proposal.apply(group);
  }
}
