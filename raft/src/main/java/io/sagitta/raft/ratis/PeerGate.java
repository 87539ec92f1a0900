// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState.Checkpoint;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.RaftStorageMetadataFile;
import org.apache.ratis.util.ProtoUtils;

/**
 * What other peers reach of the Raft server. Before an answer leaves, whatever it promises is
 * durable:
 *
 * <ul>
 *   <li>Votes and terms. Ratis fsyncs its vote file and renames it, but not the folder, so that a
 *       power cut may bring the old file back and the peer votes twice in a term. Every answer that
 *       carries a new term or grants a vote waits for the folder; and the file must really say what
 *       the answer says (after a failed write Ratis goes on with what it has in memory). Nor has
 *       that file a checksum: {@link BindingVote} is kept beside it.
 *   <li>Announced checkpoints: see {@link GroupStateMachine}.
 * </ul>
 *
 * <p>Clients and administrators are refused: entries are proposed in-process, and nobody else is to
 * change groups through this port.
 */
final class PeerGate extends RefusingServer {
  /** How long a term in memory may be ahead of the file before its write has certainly failed. */
  private static final long WRITE_PATIENCE_NANOS = 3_000_000_000L;

  private final RaftServer server;
  private final PeerHooks hooks;

  PeerGate(RaftServer server, PeerHooks hooks) {
    super(server);
    this.server = server;
    this.hooks = hooks;
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    RequestVoteReplyProto reply = server.requestVote(request);
    boolean granted = reply.getServerReply().getSuccess() && !request.getPreVote();
    Optional<RaftPeerId> votedFor =
        granted
            ? Optional.of(RaftPeerId.valueOf(request.getServerRequest().getRequestorId()))
            : Optional.empty();
    makeDurable(request.getServerRequest(), reply.getTerm(), votedFor);
    return reply;
  }

  @Override
  public CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(
      AppendEntriesRequestProto request) throws IOException {
    HostedGroup group = group(request.getServerRequest());
    if (group.divisionEvenIfFailed().isEmpty()) {
      // Ratis would say the same and log an error with its trace, for each of a leader's many
      // tries:
      // while a node starts they took time from the start that they waited for.
      throw new ServerNotReadyException("group " + group.id() + " is starting");
    }
    return server
        .appendEntriesAsync(request)
        .thenApply(
            reply -> {
              try {
                makeDurable(request.getServerRequest(), reply.getTerm(), Optional.empty());
                return reply;
              } catch (IOException e) {
                throw new CompletionException(e);
              }
            });
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    HostedGroup group = group(request.getServerRequest());
    InstallSnapshotReplyProto reply;
    if (request.hasSnapshotChunk() && request.getSnapshotChunk().getDone()) {
      // One announcement at a time: what Ratis pauses for must be what was recorded.
      synchronized (group.installLock()) {
        reply = announce(group, request);
      }
    } else {
      reply = server.installSnapshot(request);
    }
    makeDurable(request.getServerRequest(), reply.getTerm(), Optional.empty());
    return reply;
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return server.startLeaderElection(request);
  }

  @Override
  public CompletableFuture<ReadIndexReplyProto> readIndexAsync(ReadIndexRequestProto request) {
    return refused();
  }

  private InstallSnapshotReplyProto announce(HostedGroup group, InstallSnapshotRequestProto request)
      throws IOException {
    GroupStateMachine machine = group.machine();
    InstallRecord record = record(request);
    makeRoom(group, TermIndex.valueOf(request.getSnapshotChunk().getTermIndex()));
    machine.announce(record);
    ConfigurationSeal.remove(group.folder(), group.fsync());
    InstallSnapshotReplyProto reply = null;
    try {
      reply = server.installSnapshot(request);
    } finally {
      if (reply == null || reply.getResult() != InstallSnapshotResult.SUCCESS) {
        machine.withdraw();
      }
    }
    if (reply.getResult() == InstallSnapshotResult.SUCCESS) {
      // The configuration of the checkpoint, which Ratis has just written.
      group.logDirectory().sync();
      ConfigurationSeal.write(group.folder(), group.fsync());
    }
    return reply;
  }

  private static InstallRecord record(InstallSnapshotRequestProto request) throws IOException {
    if (request.getSnapshotChunk().getFileChunksCount() != 1) {
      throw new IOException("an announcement is one chunk of one file, the manifest");
    }
    FileChunkProto chunk = request.getSnapshotChunk().getFileChunks(0);
    TermIndex at = TermIndex.valueOf(request.getSnapshotChunk().getTermIndex());
    byte[] configuration =
        request.hasLastRaftConfigurationLogEntryProto()
            ? request.getLastRaftConfigurationLogEntryProto().toByteArray()
            : new byte[0];
    return new InstallRecord(
        new Checkpoint(new LogPosition(at.getTerm(), at.getIndex()), chunk.getData().toByteArray()),
        configuration);
  }

  /**
   * Ratis breaks when it installs into a log that goes on beyond the checkpoint. If the log holds
   * the checkpoint's last entry there is nothing to install; if it holds another entry there, that
   * and all after it were never committed. An announcement may also come late, when this replica
   * has installed the checkpoint and gone on: what it has acknowledged since must stay.
   */
  private void makeRoom(HostedGroup group, TermIndex at) throws IOException {
    RaftLog log = server.getDivision(group.raftId()).getRaftLog();
    if (log.contains(at)) {
      throw new IOException(
          "group " + group.id() + ": the log holds entry " + at + " of the announced checkpoint");
    }
    if (log.getLastCommittedIndex() >= at.getIndex()) {
      throw new IOException(
          "group "
              + group.id()
              + ": entry "
              + log.getLastCommittedIndex()
              + " is committed here, so that the checkpoint at "
              + at
              + " is announced too late");
    }
    if (log.getNextIndex() > at.getIndex()) {
      try {
        log.truncate(at.getIndex()).join();
      } catch (CompletionException e) {
        throw new IOException("group " + group.id() + ": truncate before install failed", e);
      }
    }
  }

  private void makeDurable(RaftRpcRequestProto request, long term, Optional<RaftPeerId> votedFor)
      throws IOException {
    HostedGroup group = group(request);
    if (term <= group.durableTerm() && votedFor.isEmpty()) {
      return;
    }
    RaftStorageMetadata written = awaitWritten(group, term, votedFor);
    group.bind(written);
    group.durableTerm(written.getTerm());
  }

  /**
   * A candidate raises its term and writes it under another lock than its voters' side uses (Ratis'
   * LeaderElection locks an object of its own), so that an answer may run ahead of the file for a
   * moment, and a vote just given may be overwritten by the candidate's vote for itself. The latter
   * does no harm: that candidacy is over, and the file still keeps this peer from voting for a
   * third.
   */
  private RaftStorageMetadata awaitWritten(
      HostedGroup group, long term, Optional<RaftPeerId> votedFor) throws IOException {
    RaftStorageMetadataFile file =
        server.getDivision(group.raftId()).getRaftStorage().getMetadataFile();
    long deadline = System.nanoTime() + WRITE_PATIENCE_NANOS;
    while (true) {
      RaftStorageMetadata written = file.getMetadata();
      boolean voteWritten =
          votedFor.isEmpty()
              || written.getVotedFor().equals(votedFor.get())
              || written.getVotedFor().equals(server.getId());
      if (written.getTerm() > term || (written.getTerm() == term && voteWritten)) {
        return written;
      }
      if (System.nanoTime() - deadline > 0) {
        IOException e =
            new IOException(
                "group " + group.id() + ": term " + term + " is not on disk, found " + written);
        group.fail(e.getMessage(), e);
        throw e;
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  private HostedGroup group(RaftRpcRequestProto request) throws IOException {
    var id = ProtoUtils.toRaftGroupId(request.getRaftGroupId());
    return hooks.group(id).orElseThrow(() -> new IOException("group " + id + " is not hosted"));
  }
}
