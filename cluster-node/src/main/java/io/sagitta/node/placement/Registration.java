// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.ByteString;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.placement.ClusterState.Mark;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.proto.GetMarks;
import io.sagitta.node.placement.proto.GetState;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.MetadataRequest;
import io.sagitta.node.placement.proto.NodeInfo;
import io.sagitta.node.placement.proto.RecordMarks;
import io.sagitta.node.placement.proto.RegisterNode;
import java.time.Duration;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;

/**
 * A node's dealings with its cluster as a member of it: it asks whether its data folder is still
 * what the cluster knows, registers its start, and keeps its copy of the state fresh.
 */
public final class Registration {
  /** A peer that runs answers at once; one that does not is not waited for. */
  private static final Duration PEER_TIMEOUT = Duration.ofSeconds(1);

  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Members members;
  private final ClusterView view;
  private final ShardMap.Node self;
  private final NodeInfo info;
  private final long boot;
  private final UUID session;

  /**
   * The dealings of a process.
   *
   * @param self where it is; its number does not matter
   * @param boot starts of the data folder, this one included
   * @param session this process
   */
  public Registration(
      Members members,
      ClusterView view,
      ShardMap.Node self,
      NodeInfo info,
      long boot,
      UUID session) {
    this.members = members;
    this.view = view;
    this.self = self;
    this.info = info;
    this.boot = boot;
    this.session = session;
  }

  /** What nodes are told of this one. */
  public static NodeInfo info(
      ShardMap.Node self, int opsPort, int groupsMax, int featureLevel, String version) {
    return Wire.info(self, opsPort, groupsMax, featureLevel, version);
  }

  /**
   * Asks every peer that answers whether it has seen a later state of this data folder. Before any
   * Raft group runs here: one that has forgotten a vote must not vote again. In a cold start of the
   * whole cluster nobody answers yet, and shard groups wait for {@link #register}.
   *
   * @return why this folder must not take part, if so
   */
  public Optional<String> rolledBack(SortedMap<UUID, Mark> marks) {
    MetadataRequest request =
        MetadataRequest.newBuilder()
            .setGetMarks(GetMarks.newBuilder().setNode(Wire.bytes(self.id().value())))
            .build();
    for (HostPort peer : members.candidates()) {
      MetadataReply reply;
      try {
        reply = members.askOne(peer, request, PEER_TIMEOUT);
      } catch (Members.Unreached e) {
        continue;
      }
      if (reply.hasKnown() && reply.getKnown().getFound()) {
        NodeEntry known =
            Wire.nodeEntry(
                info,
                view.node(self.id()).map(n -> n.node().number()).orElse(0),
                reply.getKnown().getBoot(),
                session,
                Wire.marks(reply.getKnown().getMarksList()));
        Optional<String> why = Transition.rolledBack(known, boot, session, marks);
        if (why.isPresent()) {
          return why;
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Registers this start with the metadata group.
   *
   * @param cluster the cluster the folder belongs to, if it has one
   * @return the number the node has, and its cluster
   * @throws SagittaException the refusal, which no retry cures; or UNAVAILABLE
   */
  public Registered register(
      Optional<UUID> cluster, SortedMap<UUID, Mark> marks, Duration timeout) {
    RegisterNode.Builder node =
        RegisterNode.newBuilder()
            .setNode(info)
            .setBoot(boot)
            .setSession(Wire.bytes(session))
            .addAllMarks(Wire.marks(marks))
            .setCluster(cluster.map(Wire::bytes).orElse(ByteString.EMPTY));
    long end = System.nanoTime() + timeout.toNanos();
    while (true) {
      Duration left = Duration.ofNanos(Math.max(1, end - System.nanoTime()));
      try {
        MetadataReply reply =
            members.ask(MetadataRequest.newBuilder().setRegister(node).build(), left);
        return new Registered(
            reply.getOutcome().getRegistered().getNumber(),
            Wire.uuid(reply.getOutcome().getRegistered().getCluster()));
      } catch (SagittaException e) {
        // Registering is repeatable, so an unknown outcome is simply asked again.
        boolean again = e.code() == ErrorCode.OUTCOME_UNKNOWN || e.code() == ErrorCode.UNAVAILABLE;
        if (!again || end - System.nanoTime() < 0) {
          throw e;
        }
        Calls.pause(PAUSE);
      }
    }
  }

  /** A node's place in its cluster. */
  public record Registered(int number, UUID cluster) {}

  /** Tells the group how far this node's logs have certainly come. */
  public void recordMarks(SortedMap<UUID, Mark> marks, Duration timeout) {
    members.ask(
        MetadataRequest.newBuilder()
            .setRecordMarks(
                RecordMarks.newBuilder()
                    .setNode(Wire.bytes(self.id().value()))
                    .addAllMarks(Wire.marks(marks)))
            .build(),
        timeout);
  }

  /**
   * Fetches the state.
   *
   * @param fromLeader the state as of now; else any member's copy
   */
  public ShardMap refresh(boolean fromLeader, Duration timeout) {
    MetadataRequest request =
        MetadataRequest.newBuilder()
            .setGetState(
                GetState.newBuilder()
                    .setKnownEpoch(view.state().epoch())
                    .setFromLeader(fromLeader)
                    .setAsker(Wire.bytes(self.id().value())))
            .build();
    MetadataReply reply = members.ask(request, timeout);
    if (reply.hasState()) {
      view.adopt(Wire.state(reply.getState()));
    }
    return view.map();
  }
}
