// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.Outcome;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.NoSuchGroup;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.OutcomeUnknown;
import io.sagitta.raft.Overloaded;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.GroupStatus;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** This process's part in the metadata group, if it has one: proposes, and asks what is. */
public final class MetaGroup {
  private final ClusterView view;
  private final InstantSource clock;

  /** The Raft host of the metadata group, and of nothing else; null until Raft runs. */
  private volatile RaftHost host;

  /**
   * This process's part, none as yet.
   *
   * @param view told every state that {@link MetaState} comes to
   * @param clock stamps commands
   */
  public MetaGroup(ClusterView view, InstantSource clock) {
    this.view = view;
    this.clock = clock;
  }

  /** From now on Raft runs. */
  public void attach(RaftHost running) {
    host = running;
  }

  /** Founds the group with this node as its only voter. */
  public void found(UUID cluster, ShardMap.Node self) {
    host.create(new GroupId(cluster), List.of(peer(self)));
  }

  /** Makes a silent replica, which the leader may make a voter. */
  public void join(UUID cluster) {
    host.create(new GroupId(cluster), List.of());
  }

  /** What this process knows of the group; nothing where it is no member. */
  public Optional<GroupStatus> status() {
    RaftHost running = host;
    List<GroupStatus> groups = running == null ? List.of() : running.groups();
    return groups.isEmpty() ? Optional.empty() : Optional.of(groups.getFirst());
  }

  public boolean leads() {
    return status().filter(GroupStatus::leaderReady).isPresent();
  }

  public Optional<NodeId> leader() {
    return status().flatMap(GroupStatus::leader).map(NodeId::parse);
  }

  /**
   * Proposes a command and answers with its outcome; a refusal is thrown as what it says.
   *
   * @throws NotLeader when this process does not lead; nothing was appended
   * @throws SagittaException UNAVAILABLE (nothing was appended), OUTCOME_UNKNOWN, or a refusal
   */
  Outcome propose(Command.Builder command, Duration timeout) {
    byte[] entry =
        command.setFormat(Transition.FORMAT).setTimeMs(clock.millis()).build().toByteArray();
    if (entry.length > RaftHost.ENTRY_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "the command has "
              + entry.length
              + " bytes, at most "
              + RaftHost.ENTRY_BYTES_MAX
              + " are allowed: fewer fields, or fewer shards");
    }
    byte[] outcome = await(host.submit(group(), ByteBuffer.wrap(entry)), timeout, true).outcome();
    try {
      Outcome parsed = Outcome.parseFrom(outcome);
      if (parsed.hasRefused()) {
        throw new SagittaException(
            ErrorCode.valueOf(parsed.getRefused().getCode()), parsed.getRefused().getMessage());
      }
      return parsed;
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("the metadata group answered what cannot be read", e);
    }
  }

  /**
   * The state as of now: every command answered before this call is in it.
   *
   * @throws NotLeader when this process does not lead
   */
  ClusterState read(Duration timeout) {
    await(host.leaderReadIndex(group(), timeout), timeout, false);
    return view.state();
  }

  /** Makes these the voters, one at a time; answers when they are. */
  void changeVoters(List<ShardMap.Node> target, Duration timeout) {
    List<Peer> peers = new ArrayList<>();
    target.forEach(node -> peers.add(peer(node)));
    await(host.changeVoters(group(), peers), timeout, false);
  }

  /** Hands leadership to another voter, where there is one. */
  public CompletableFuture<Void> handOver(Duration timeout) {
    return status()
        .filter(s -> s.leaderReady() && s.voters().size() > 1)
        .map(s -> host.transferLeadership(s.group(), timeout))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  List<NodeId> voters() {
    return status()
        .map(s -> s.voters().stream().map(p -> NodeId.parse(p.id())).toList())
        .orElse(List.of());
  }

  long term() {
    return status().map(GroupStatus::term).orElse(-1L);
  }

  Optional<NodeEntry> node(NodeId id) {
    return view.node(id);
  }

  private GroupId group() {
    return status()
        .map(GroupStatus::group)
        .orElseThrow(() -> new NotLeader("this node is no member of the metadata group"));
  }

  private static Peer peer(ShardMap.Node node) {
    return new Peer(node.id().toString(), node.host() + ":" + node.metaRaftPort());
  }

  /** Waits for Raft and says in the contract's words what went wrong. */
  private static <T> T await(CompletableFuture<T> future, Duration timeout, boolean write) {
    try {
      return future.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new SagittaException(
          write ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.UNAVAILABLE,
          "the metadata group did not answer within " + timeout.toMillis() + " ms",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SagittaException(
          write ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.UNAVAILABLE, "the node is stopping", e);
    } catch (ExecutionException e) {
      throw translate(e.getCause());
    }
  }

  private static RuntimeException translate(Throwable cause) {
    return switch (cause) {
      case NotLeader notLeader -> notLeader;
      case NoSuchGroup gone -> new NotLeader(gone.getMessage(), gone);
      case Overloaded overloaded ->
          new SagittaException(ErrorCode.UNAVAILABLE, overloaded.getMessage(), 100, overloaded);
      case OutcomeUnknown unknown ->
          new SagittaException(ErrorCode.OUTCOME_UNKNOWN, unknown.getMessage(), unknown);
      case RuntimeException other -> other;
      case null, default -> new IllegalStateException(cause);
    };
  }
}
