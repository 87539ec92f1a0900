// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.DamagedStateException;
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
 *
 * <p><b>Repair.</b> Where the state's files are damaged and all else is whole ({@link
 * DamagedStateException}), a peer's checkpoint may take their place, and the replica goes on as the
 * voter it was. It is announced as an install is, by an {@link InstallRecord}, and the next start
 * finishes it as it finishes an install that was cut short: a crash before the record leaves a
 * replica that is still refused, one after it a replica that is finished. Why nothing acknowledged
 * is lost:
 *
 * <ol>
 *   <li>Vote and term are read from the vote file, which was checked, so it votes once a term as
 *       before; while it is refused it does not vote at all.
 *   <li>A checkpoint holds committed entries only. Of what this replica had acknowledged, that
 *       which lies at or before the checkpoint is either in it or was never committed; what lies
 *       behind it is still in the log, which {@link LogInspection} has found whole beside the
 *       damaged checkpoint, up to the high-water mark and beyond, <i>before</i> the damage is
 *       called one of the state alone. A newer checkpoint could otherwise hide that entries behind
 *       it are gone, which would then count for a majority that has lost them.
 *   <li>So its log ends where it did or further on, in entries that are committed; it votes for
 *       nobody whom it would have refused before, unless that one holds all that is committed.
 *   <li>The configuration comes with the checkpoint, committed, and no older than it: a replica
 *       brought past a change of voters must not count majorities of those before. Ratis prefers a
 *       later one that its log holds.
 * </ol>
 *
 * <p>Damage of the vote file, the log, the mark or the configuration is another matter: what the
 * replica has promised is not known any more, and it must not vote as if it were.
 */
final class GroupStart {
  private static final Logger LOG = LoggerFactory.getLogger(GroupStart.class);

  private final HostedGroup group;
  private final StateFactory states;
  private final DirectoryFsync fsync;
  private final String self;

  /**
   * A start of a group.
   *
   * @param self the id of this peer
   */
  GroupStart(HostedGroup group, StateFactory states, DirectoryFsync fsync, String self) {
    this.group = group;
    this.self = self;
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
    BindingVote bound = BindingVote.read(folder.boundVote(), fsync);
    folder.checkRatisFiles(bound, self);
    folder.make(fsync);
    HighWaterMark mark = HighWaterMark.read(folder.mark());
    ReplicatedState state = open(folder, mark);
    try {
      if (finishInstall(state)) {
        state.close();
        state = states.open(group.id());
      }
      LogPosition recovered = state.recovered();
      LogPosition end = LogInspection.inspect(folder, recovered, mark.position(), fsync);
      LOG.info("group {}: state at {}, log ends at {}", group.id(), recovered, end);
      group.prepare(new GroupStateMachine(group, state, end.index()), mark, bound);
      return new Prepared(recovered.index() < 0);
    } catch (DamagedStateException e) {
      close(state, e);
      throw refused(e, e.indexWanted(), folder, mark);
    } catch (IOException | RuntimeException e) {
      close(state, e);
      throw e;
    }
  }

  private static void close(ReplicatedState state, Exception why) {
    try {
      state.close();
    } catch (IOException | RuntimeException closing) {
      why.addSuppressed(closing);
    }
  }

  /** Opens the state; where its files are damaged and a checkpoint for them is here, with that. */
  private ReplicatedState open(GroupFolder folder, HighWaterMark mark) throws IOException {
    try {
      return states.open(group.id());
    } catch (DamagedStateException e) {
      Optional<InstallRecord> pending = InstallRecord.read(folder.install());
      if (pending.isEmpty()) {
        throw refused(e, e.indexWanted(), folder, mark);
      }
      Checkpoint checkpoint = pending.get().checkpoint();
      long index = checkpoint.position().index();
      if (index < e.indexWanted() || !states.replaceDamaged(group.id(), checkpoint)) {
        throw refused(e, Math.max(index, e.indexWanted()), folder, mark);
      }
      LOG.warn(
          "group {}: a checkpoint at {} has taken the place of damaged files",
          group.id(),
          checkpoint.position());
      return states.open(group.id());
    }
  }

  /**
   * The refusal of a state whose files are damaged.
   *
   * @throws IOException what is worse: the log is not whole beside a checkpoint of the index wanted
   */
  private static DamagedStateException refused(
      DamagedStateException e, long indexWanted, GroupFolder folder, HighWaterMark mark)
      throws IOException {
    try {
      LogInspection.check(folder, new LogPosition(0, indexWanted), mark.position());
    } catch (IOException worse) {
      worse.addSuppressed(e);
      throw worse;
    }
    return new DamagedStateException(e.getMessage(), indexWanted, e);
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
        throw new DamagedStateException(
            "files of the announced checkpoint at " + checkpoint.position() + " are not here",
            checkpoint.position().index(),
            null);
      }
      state.install(checkpoint);
    }
    // Also where the state had it already: a crash may have come in between.
    if (pending.get().configuration().length > 0) {
      ConfigurationSeal.remove(folder, fsync);
      DurableFile.replace(
          folder.configurationFile(), ByteBuffer.wrap(pending.get().configuration()), fsync);
      ConfigurationSeal.write(folder, fsync);
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
