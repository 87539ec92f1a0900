// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.GroupInfoRequest;
import org.apache.ratis.protocol.GroupListReply;
import org.apache.ratis.protocol.GroupListRequest;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DataStreamServerRpc;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.util.LifeCycle;

/**
 * A Raft server as seen from the network: it says who it is and refuses clients and administrators.
 */
abstract class RefusingServer implements RaftServer {
  private final RaftServer server;

  RefusingServer(RaftServer server) {
    this.server = server;
  }

  static <T> CompletableFuture<T> refused() {
    return CompletableFuture.failedFuture(refusal());
  }

  private static IOException refusal() {
    return new IOException("this port serves Raft between peers only");
  }

  // ---- who it is

  @Override
  public RaftPeerId getId() {
    return server.getId();
  }

  @Override
  public RaftPeer getPeer() {
    return server.getPeer();
  }

  @Override
  public Iterable<RaftGroupId> getGroupIds() {
    return server.getGroupIds();
  }

  @Override
  public Iterable<RaftGroup> getGroups() throws IOException {
    return server.getGroups();
  }

  @Override
  public Division getDivision(RaftGroupId group) throws IOException {
    return server.getDivision(group);
  }

  @Override
  public RaftProperties getProperties() {
    return server.getProperties();
  }

  @Override
  public RaftServerRpc getServerRpc() {
    return server.getServerRpc();
  }

  @Override
  public DataStreamServerRpc getDataStreamServerRpc() {
    return server.getDataStreamServerRpc();
  }

  @Override
  public ServerFactory getFactory() {
    return server.getFactory();
  }

  @Override
  public LifeCycle.State getLifeCycleState() {
    return server.getLifeCycleState();
  }

  @Override
  public void start() {
    throw new UnsupportedOperationException("started by its host");
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException("closed by its host");
  }

  // ---- blocking forms, which gRPC does not use

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    throw refusal();
  }

  // ---- clients and administrators

  @Override
  public RaftClientReply submitClientRequest(RaftClientRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<RaftClientReply> submitClientRequestAsync(RaftClientRequest request) {
    return refused();
  }

  @Override
  public GroupListReply getGroupList(GroupListRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<GroupListReply> getGroupListAsync(GroupListRequest request) {
    return refused();
  }

  @Override
  public GroupInfoReply getGroupInfo(GroupInfoRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<GroupInfoReply> getGroupInfoAsync(GroupInfoRequest request) {
    return refused();
  }

  @Override
  public RaftClientReply groupManagement(GroupManagementRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<RaftClientReply> groupManagementAsync(GroupManagementRequest request) {
    return refused();
  }

  @Override
  public RaftClientReply snapshotManagement(SnapshotManagementRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<RaftClientReply> snapshotManagementAsync(
      SnapshotManagementRequest request) {
    return refused();
  }

  @Override
  public RaftClientReply leaderElectionManagement(LeaderElectionManagementRequest request)
      throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<RaftClientReply> leaderElectionManagementAsync(
      LeaderElectionManagementRequest request) {
    return refused();
  }

  @Override
  public RaftClientReply setConfiguration(SetConfigurationRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<RaftClientReply> setConfigurationAsync(SetConfigurationRequest request) {
    return refused();
  }

  @Override
  public RaftClientReply transferLeadership(TransferLeadershipRequest request) throws IOException {
    throw refusal();
  }

  @Override
  public CompletableFuture<RaftClientReply> transferLeadershipAsync(
      TransferLeadershipRequest request) {
    return refused();
  }
}
