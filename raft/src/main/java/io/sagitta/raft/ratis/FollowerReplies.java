// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.util.List;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Listens to what a follower answers, on the way to Ratis' own leader state, and remembers two
 * things that Ratis forgets: where the follower says its log goes on, and how often in a row it has
 * contradicted the leader's bookkeeping.
 *
 * <p>The latter is RATIS-2523: a follower that lost entries which the leader has down as matched
 * answers INCONSISTENCY for ever; a change of leader, which starts the bookkeeping afresh, cures
 * it.
 */
final class FollowerReplies implements LeaderState {
  /** Contradictions in a row that no race explains. */
  private static final int CONTRADICTIONS_MAX = 20;

  private final LeaderState delegate;
  private final FollowerInfo follower;
  private final RaftServer.Division server;
  private final PeerHooks hooks;

  private volatile long nextIndex = -1;
  private int contradictions; // guarded by this

  FollowerReplies(
      LeaderState delegate, FollowerInfo follower, RaftServer.Division server, PeerHooks hooks) {
    this.delegate = delegate;
    this.follower = follower;
    this.server = server;
    this.hooks = hooks;
  }

  /** Where the follower's log goes on, by its last answer; -1 before the first. */
  long nextIndex() {
    return nextIndex;
  }

  /** What the follower last answered may no longer be so: its next answer will tell. */
  void forget() {
    nextIndex = -1;
  }

  @Override
  public void onAppendEntriesReply(LogAppender appender, AppendEntriesReplyProto reply) {
    nextIndex = reply.getNextIndex();
    delegate.onAppendEntriesReply(appender, reply);
    watch(reply);
  }

  private void watch(AppendEntriesReplyProto reply) {
    boolean contradicts =
        reply.getResult() == AppendResult.INCONSISTENCY
            && reply.getNextIndex() <= follower.getMatchIndex();
    boolean cure = false;
    synchronized (this) {
      contradictions = contradicts ? contradictions + 1 : 0;
      if (contradictions >= CONTRADICTIONS_MAX) {
        contradictions = 0;
        cure = true;
      }
    }
    if (cure) {
      hooks
          .group(server.getMemberId().getGroupId())
          .ifPresent(
              group ->
                  hooks.stepDown(
                      group,
                      "follower "
                          + follower.getId()
                          + " lacks entries below its match index "
                          + follower.getMatchIndex()));
    }
  }

  @Override
  public void restart(LogAppender appender) {
    delegate.restart(appender);
  }

  @Override
  public AppendEntriesRequestProto newAppendEntriesRequestProto(
      FollowerInfo to, List<LogEntryProto> entries, TermIndex previous, long callId) {
    return delegate.newAppendEntriesRequestProto(to, entries, previous, callId);
  }

  @Override
  public void checkHealth(FollowerInfo of) {
    delegate.checkHealth(of);
  }

  @Override
  public boolean onFollowerTerm(FollowerInfo of, long followerTerm) {
    return delegate.onFollowerTerm(of, followerTerm);
  }

  @Override
  public void onFollowerCommitIndex(FollowerInfo of, long commitIndex) {
    delegate.onFollowerCommitIndex(of, commitIndex);
  }

  @Override
  public void onFollowerSuccessAppendEntries(FollowerInfo of) {
    delegate.onFollowerSuccessAppendEntries(of);
  }

  @Override
  public boolean isFollowerBootstrapping(FollowerInfo of) {
    return delegate.isFollowerBootstrapping(of);
  }
}
