// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.placement.ClusterState.NodeEntry;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.MetadataRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Asks the metadata group, wherever its members are: this process where it leads, else the leader
 * it knows of, else every node it has heard of in turn. Blocking: call it on a virtual thread.
 */
public final class Members {
  /** A pause between rounds over all members, long enough for an election to go on. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final NodeId self;
  private final MetaGroup group;
  private final ClusterView view;
  private final MetadataService local;
  private final PeerCalls peers;
  private final List<HostPort> seeds;

  Members(
      NodeId self,
      MetaGroup group,
      ClusterView view,
      MetadataService local,
      PeerCalls peers,
      List<HostPort> seeds) {
    this.self = self;
    this.group = group;
    this.view = view;
    this.local = local;
    this.peers = peers;
    this.seeds = List.copyOf(seeds);
  }

  static HostPort address(NodeEntry node) {
    return new HostPort(node.node().host(), node.node().internalPort());
  }

  /**
   * The answer of the first member that has one. While members are not reached, or have no leader,
   * they are asked again until the time is over: every request may be repeated.
   *
   * @throws SagittaException what the group refused with, or UNAVAILABLE
   */
  MetadataReply ask(MetadataRequest request, Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    while (true) {
      SagittaException last =
          SagittaException.unavailable("no member of the cluster is known", 1_000);
      if (group.leads()) {
        MetadataReply reply = local.handle(request);
        if (!reply.getFailure().getNoLeader()) {
          return value(reply);
        }
      }
      for (HostPort member : candidates()) {
        Duration left = Duration.ofNanos(end - System.nanoTime());
        if (left.isNegative() || left.isZero()) {
          throw last;
        }
        try {
          MetadataReply reply =
              askOne(member, request, shorter(left, MetadataService.timeout(request)));
          if (!reply.getFailure().getNoLeader()) {
            return value(reply);
          }
          last = SagittaException.unavailable(reply.getFailure().getMessage(), 200);
        } catch (Unreached e) {
          last = SagittaException.unavailable(member + " does not answer: " + e.getMessage(), 200);
        }
      }
      if (end - System.nanoTime() < PAUSE.toNanos()) {
        throw last;
      }
      Calls.pause(PAUSE);
    }
  }

  /** A member that did not answer. */
  static final class Unreached extends Exception {
    private static final long serialVersionUID = 1L;

    Unreached(SagittaException cause) {
      super(cause.getMessage(), cause);
    }
  }

  /** One member's answer. */
  MetadataReply askOne(HostPort member, MetadataRequest request, Duration timeout)
      throws Unreached {
    try {
      return MetadataReply.parseFrom(
          Calls.await(peers.metadata(member, request.toByteArray(), timeout), timeout));
    } catch (SagittaException e) {
      throw new Unreached(e);
    } catch (InvalidProtocolBufferException e) {
      throw new SagittaException(ErrorCode.INTERNAL, member + " answered what cannot be read", e);
    }
  }

  /** The leader first, then every node known, then those given to join by. */
  List<HostPort> candidates() {
    Set<HostPort> order = new LinkedHashSet<>();
    Optional<NodeId> leader = group.leader().filter(id -> !id.equals(self));
    leader.flatMap(view::node).ifPresent(node -> order.add(address(node)));
    for (NodeEntry node : view.state().nodesByNumber()) {
      if (!node.node().id().equals(self)) {
        order.add(address(node));
      }
    }
    order.addAll(seeds);
    return new ArrayList<>(order);
  }

  private static MetadataReply value(MetadataReply reply) {
    if (reply.hasFailure()) {
      throw new SagittaException(
          ErrorCode.valueOf(reply.getFailure().getCode()),
          reply.getFailure().getMessage(),
          reply.getFailure().getRetryAfterMs(),
          null);
    }
    return reply;
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
