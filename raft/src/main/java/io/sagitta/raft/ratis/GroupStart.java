// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost.StateFactory;
import io.sagitta.raft.ReplicatedState;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is done and checked before Ratis may start a group that has a folder: the folder is there
 * and formatted, the state opens, an install that was cut short is finished, the log is whole and
 * reaches the high-water mark. Anything else is an IOException, and the group stays quarantined.
 */
final class GroupStart {
  private static final Logger LOG = LoggerFactory.getLogger(GroupStart.class);

  private final HostedGroup group;
  private final StateFactory states;
  private final DirectoryFsync fsync;

  GroupStart(HostedGroup group, StateFactory states, DirectoryFsync fsync) {
    this.group = group;
    this.states = states;
    this.fsync = fsync;
  }

  /** Whether the group's log, if it has one, starts at its very beginning. */
  record Prepared(boolean logFromBeginning) {}

  Prepared prepare(HostedGroups.Phase phase) throws IOException {
    GroupFolder folder = group.folder();
    if (phase == HostedGroups.Phase.HOSTED && !folder.formatted()) {
      throw new DamageException(
          "the folder of group "
              + group.id()
              + " has vanished or lost its vote file: "
              + folder.root()
              + "; it must not vote as if it were new");
    }
    folder.checkRatisFiles();
    folder.make(fsync);
    HighWaterMark mark = HighWaterMark.read(folder.mark());
    ReplicatedState state = states.open(group.id());
    try {
      if (finishInstall(state)) {
        state.close();
        state = states.open(group.id());
      }
      LogPosition recovered = state.recovered();
      LogPosition end = LogInspection.inspect(folder, recovered, mark.position(), fsync);
      LOG.info("group {}: state at {}, log ends at {}", group.id(), recovered, end);
      group.prepare(new GroupStateMachine(group, state, end.index()), mark);
      return new Prepared(recovered.index() < 0);
    } catch (IOException | RuntimeException e) {
      try {
        state.close();
      } catch (IOException | RuntimeException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  /** Whether the state was replaced. */
  private boolean finishInstall(ReplicatedState state) throws IOException {
    GroupFolder folder = group.folder();
    Optional<InstallRecord> pending = InstallRecord.read(folder.install());
    if (pending.isEmpty()) {
      return false;
    }
    Checkpoint checkpoint = pending.get().checkpoint();
    boolean ahead = checkpoint.position().compareTo(state.recovered()) > 0;
    if (ahead) {
      LOG.warn("group {}: finishing install of {}", group.id(), checkpoint.position());
      if (!state.holds(checkpoint)) {
        throw new IOException("announced checkpoint " + checkpoint.position() + " is not here");
      }
      state.install(checkpoint);
      if (pending.get().configuration().length > 0) {
        DurableFile.replace(
            folder.configurationFile(), ByteBuffer.wrap(pending.get().configuration()), fsync);
      }
    }
    DurableFile.delete(folder.install(), fsync);
    return ahead;
  }

  /**
   * The group as Ratis is told of it. Its voters come from the log or the configuration file; only
   * a group whose log is whole from the beginning may take the first voters, in case no
   * configuration was logged yet.
   */
  RaftGroup raftGroup(List<Peer> firstVoters, Prepared prepared) {
    if (firstVoters.isEmpty() || !prepared.logFromBeginning()) {
      return RaftGroup.valueOf(group.raftId());
    }
    return RaftGroup.valueOf(group.raftId(), raftPeers(firstVoters));
  }

  static List<RaftPeer> raftPeers(List<Peer> peers) {
    return peers.stream().map(GroupStart::raftPeer).toList();
  }

  static RaftPeer raftPeer(Peer peer) {
    return RaftPeer.newBuilder().setId(peer.id()).setAddress(peer.address()).build();
  }
}
