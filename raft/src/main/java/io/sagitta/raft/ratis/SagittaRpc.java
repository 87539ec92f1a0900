// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;

/**
 * Ratis' gRPC with two parts exchanged: what peers call goes through {@link PeerGate}, and logs go
 * out through {@link PrefetchingLogAppender}. Public, with a public constructor, because Ratis
 * makes it by its class name.
 */
public final class SagittaRpc implements RpcType {
  static final RpcType INSTANCE = new SagittaRpc();

  /** Under which the host's {@link PeerHooks} stand among Ratis' parameters. */
  static final String HOOKS = "sagitta.hooks";

  /** Called by Ratis. */
  public SagittaRpc() {}

  @Override
  public String name() {
    return SagittaRpc.class.getName();
  }

  @Override
  public RpcFactory newFactory(Parameters parameters) {
    return new Factory(parameters, parameters.getNonNull(HOOKS, PeerHooks.class));
  }

  private static final class Factory extends GrpcFactory {
    private final PeerHooks hooks;

    Factory(Parameters parameters, PeerHooks hooks) {
      super(parameters);
      this.hooks = hooks;
    }

    @Override
    public LogAppender newLogAppender(
        RaftServer.Division server, LeaderState state, FollowerInfo follower) {
      return new PrefetchingLogAppender(
          server, new FollowerReplies(state, follower, server, hooks), follower, hooks);
    }

    @Override
    public GrpcServices newRaftServerRpc(RaftServer server) {
      return super.newRaftServerRpc(new PeerGate(server, hooks));
    }
  }
}
