// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SetConfigurationRequest.Arguments;
import org.apache.ratis.protocol.SetConfigurationRequest.Mode;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.LogProtoUtils;

/**
 * Changes of voters and of the leader. One voter at a time, and always compare-and-set against the
 * voters that the step was planned from: Ratis' ADD drops listeners, and more than one new voter
 * beside one old is refused.
 */
final class Membership {
  private final RaftServer server;
  private final Peer self;
  private final ClientId clientId;
  private final LongSupplier callIds;

  Membership(RaftServer server, Peer self, ClientId clientId, LongSupplier callIds) {
    this.server = server;
    this.self = self;
    this.clientId = clientId;
    this.callIds = callIds;
  }

  /** See {@link io.sagitta.raft.RaftHost#changeVoters}. */
  CompletableFuture<List<Peer>> step(HostedGroup group, List<Peer> target) {
    RaftServer.Division division = leading(group);
    RaftConfiguration conf = division.getRaftConf();
    if (!conf.getPreviousPeers().isEmpty()) {
      return CompletableFuture.failedFuture(
          new IllegalStateException("group " + group.id() + ": a change of voters is under way"));
    }
    List<Peer> now = RatisRaftHost.peers(conf.getCurrentPeers());
    Optional<List<Peer>> next = next(now, target);
    if (next.isEmpty()) {
      return CompletableFuture.completedFuture(now);
    }
    if (!contains(next.get(), self.id())) {
      // Whoever leads next takes this peer out; a leader that removes itself leaves a gap.
      return transfer(group, Optional.empty(), Duration.ofSeconds(10)).thenApply(v -> now);
    }
    Arguments arguments =
        Arguments.newBuilder()
            .setMode(Mode.COMPARE_AND_SET)
            .setServersInCurrentConf(List.copyOf(conf.getCurrentPeers()))
            .setServersInNewConf(raftPeers(conf, next.get()))
            .build();
    SetConfigurationRequest request =
        new SetConfigurationRequest(
            clientId, server.getId(), group.raftId(), callIds.getAsLong(), arguments);
    return send(group, () -> server.setConfigurationAsync(request))
        .thenApply(reply -> RatisRaftHost.peers(division.getRaftConf().getCurrentPeers()));
  }

  /**
   * Ratis' log entry with the newest configuration that is known to be committed, as an install
   * carries it: the present one, or where that may yet be undone (each leader begins with one, and
   * a follower without a leader cannot tell) the one in the file, which Ratis writes when it
   * applies it. No older than any checkpoint that has been published: the file is durable before.
   */
  static Optional<byte[]> committedConfiguration(RaftServer.Division division, GroupFolder folder)
      throws IOException {
    RaftConfiguration conf = division.getRaftConf();
    long index = conf.getLogEntryIndex();
    if (conf.getPreviousPeers().isEmpty()
        && index >= 0
        && index <= division.getRaftLog().getLastCommittedIndex()) {
      return Optional.of(LogProtoUtils.toLogEntryProto(conf, null, index).toByteArray());
    }
    return Files.exists(folder.configurationFile())
        ? Optional.of(Files.readAllBytes(folder.configurationFile()))
        : Optional.empty();
  }

  /** The voters after one step from {@code now} towards {@code target}; empty if there is none. */
  static Optional<List<Peer>> next(List<Peer> now, List<Peer> target) {
    for (Peer peer : target) {
      if (!contains(now, peer.id())) {
        List<Peer> grown = new ArrayList<>(now);
        grown.add(peer);
        return Optional.of(grown);
      }
    }
    for (Peer peer : now) {
      if (!contains(target, peer.id())) {
        return Optional.of(now.stream().filter(p -> !p.id().equals(peer.id())).toList());
      }
    }
    return Optional.empty();
  }

  /**
   * Hands leadership to a follower, the one that answered last unless one is named; done at once
   * where there is none.
   */
  CompletableFuture<Void> transfer(HostedGroup group, Optional<String> named, Duration timeout) {
    RaftServer.Division division = leading(group);
    RaftConfiguration conf = division.getRaftConf();
    Optional<RaftPeerId> heir =
        division.getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
            .sorted(Comparator.comparingLong(ServerRpcProto::getLastRpcElapsedTimeMs))
            .map(f -> RaftPeerId.valueOf(f.getId().getId()))
            .filter(id -> named.isEmpty() || named.get().equals(id.toString()))
            .filter(
                id -> conf.getCurrentPeers().stream().anyMatch(voter -> voter.getId().equals(id)))
            .findFirst();
    if (heir.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    return send(group, () -> server.transferLeadershipAsync(request(group, heir.get(), timeout)))
        .thenAccept(reply -> {});
  }

  /** Gives up leadership without an heir. */
  CompletableFuture<Void> stepDown(HostedGroup group, Duration timeout) {
    return send(group, () -> server.transferLeadershipAsync(request(group, null, timeout)))
        .thenAccept(reply -> {});
  }

  private TransferLeadershipRequest request(HostedGroup group, RaftPeerId heir, Duration timeout) {
    return new TransferLeadershipRequest(
        clientId, server.getId(), group.raftId(), callIds.getAsLong(), heir, timeout.toMillis());
  }

  private interface Call {
    CompletableFuture<RaftClientReply> send() throws IOException;
  }

  private static CompletableFuture<RaftClientReply> send(HostedGroup group, Call call) {
    CompletableFuture<RaftClientReply> reply;
    try {
      reply = call.send();
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(RatisRaftHost.unwrap(e));
    }
    return reply.thenApply(
        answer -> {
          if (!answer.isSuccess()) {
            throw new IllegalStateException(
                "group " + group.id() + ": " + answer.getException().getMessage(),
                answer.getException());
          }
          return answer;
        });
  }

  private static RaftServer.Division leading(HostedGroup group) {
    RaftServer.Division division =
        group.division().orElseThrow(() -> new NotLeader("group " + group.id() + " is stopped"));
    if (!division.getInfo().isLeader() || !division.getInfo().isLeaderReady()) {
      throw new NotLeader("group " + group.id() + " is not led by this process");
    }
    return division;
  }

  /** Known peers as the configuration has them, the new one as given. */
  private static List<RaftPeer> raftPeers(RaftConfiguration conf, List<Peer> peers) {
    return peers.stream()
        .map(
            p ->
                Optional.ofNullable(conf.getPeer(RaftPeerId.valueOf(p.id())))
                    .orElseGet(() -> GroupStart.raftPeer(p)))
        .toList();
  }

  private static boolean contains(List<Peer> peers, String id) {
    return peers.stream().anyMatch(p -> p.id().equals(id));
  }
}
