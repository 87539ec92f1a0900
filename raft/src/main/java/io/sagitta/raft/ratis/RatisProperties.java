// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.RaftServerConfigKeys.Read;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * Every key that a Ratis 3.3.0 server reads, set: no default is taken unread. A test walks through
 * the key interfaces of Ratis and fails for one that is missing here.
 */
final class RatisProperties {
  private RatisProperties() {}

  static RaftProperties of(
      RaftSettings settings, Path storage, Path removed, String bindHost, int port) {
    RaftProperties p = new RaftProperties();
    rpcType(p);
    storage(p, storage, removed);
    timing(p, settings);
    pools(p);
    reads(p, settings);
    pending(p, settings);
    log(p, settings);
    snapshots(p);
    grpc(p, settings, bindHost, port);
    return p;
  }

  /** The folder in which groups are created and recovered from now on. */
  static void storageDir(RaftProperties p, Path storage) {
    RaftServerConfigKeys.setStorageDir(p, List.of(storage.toFile()));
  }

  /** A fault for tests: entries are acknowledged before they are fsynced. */
  static void plantNoFsync(RaftProperties p) {
    RaftServerConfigKeys.Log.setUnsafeFlushEnabled(p, true);
  }

  private static void rpcType(RaftProperties p) {
    // Our own: gRPC with the gate and the appender of this package.
    RaftConfigKeys.Rpc.setType(p, SagittaRpc.INSTANCE);
    p.set(RaftConfigKeys.DataStream.TYPE_KEY, "DISABLED");
    p.setBoolean(RaftConfigKeys.DataStream.SKIP_SEND_FORWARD_KEY, true);
  }

  private static void storage(RaftProperties p, Path storage, Path removed) {
    storageDir(p, storage);
    // A group must start on a full disk too: who lets writes in looks after the space.
    RaftServerConfigKeys.setStorageFreeSpaceMin(p, size(0));
    // Never used (groups are deleted, or set aside by us), but its default is in /tmp.
    RaftServerConfigKeys.setRemovedGroupsDir(p, removed.toFile());
  }

  private static void timing(RaftProperties p, RaftSettings s) {
    RaftServerConfigKeys.Rpc.setTimeoutMin(p, ms(s.electionMinMs()));
    RaftServerConfigKeys.Rpc.setTimeoutMax(p, ms(s.electionMaxMs()));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(p, ms(s.firstElectionMinMs()));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(p, ms(s.firstElectionMaxMs()));
    RaftServerConfigKeys.Rpc.setRequestTimeout(p, ms(s.requestTimeoutMs()));
    RaftServerConfigKeys.Rpc.setSleepTime(p, ms(25));
    RaftServerConfigKeys.Rpc.setSlownessTimeout(p, ms(s.slownessTimeoutMs()));

    RaftServerConfigKeys.setSleepDeviationThreshold(p, ms(2_000));
    // A server that closes itself leaves a zombie process; ours lives on after a long pause.
    RaftServerConfigKeys.setCloseThreshold(p, TimeDuration.valueOf(365, TimeUnit.DAYS));
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(p, ms(s.pauseStepDownMs()));
    // Without it a node that comes back from a partition deposes the leader.
    RaftServerConfigKeys.LeaderElection.setPreVote(p, true);
    // Adding a majority at once can elect for ever (RATIS-1912).
    RaftServerConfigKeys.LeaderElection.setMemberMajorityAdd(p, false);
    RaftServerConfigKeys.setStagingCatchupGap(p, s.stagingGapEntries());
    RaftServerConfigKeys.setStagingTimeout(p, ms(s.stagingTimeoutMs()));
    RaftServerConfigKeys.Notification.setNoLeaderTimeout(p, ms(30_000));
  }

  private static void pools(RaftProperties p) {
    // "Cached" with a size is one thread (ConcurrentUtils); cached without is unbounded, but what
    // runs
    // there is bounded by what is in flight.
    RaftServerConfigKeys.ThreadPool.setProxyCached(p, true);
    RaftServerConfigKeys.ThreadPool.setProxySize(p, 0);
    RaftServerConfigKeys.ThreadPool.setServerCached(p, true);
    RaftServerConfigKeys.ThreadPool.setServerSize(p, 0);
    RaftServerConfigKeys.ThreadPool.setClientCached(p, true);
    RaftServerConfigKeys.ThreadPool.setClientSize(p, 0);
    // The data stream is disabled; its pools are set all the same.
    RaftServerConfigKeys.DataStream.setAsyncRequestThreadPoolCached(p, false);
    RaftServerConfigKeys.DataStream.setAsyncRequestThreadPoolSize(p, 1);
    RaftServerConfigKeys.DataStream.setAsyncWriteThreadPoolSize(p, 1);
    RaftServerConfigKeys.DataStream.setClientPoolSize(p, 1);
    // Duplicates are recognised by the replicated state, not by this cache.
    RaftServerConfigKeys.RetryCache.setExpiryTime(p, ms(10_000));
    RaftServerConfigKeys.RetryCache.setStatisticsExpiryTime(p, ms(1_000));
  }

  private static void reads(RaftProperties p, RaftSettings s) {
    // Nothing reads through Ratis: its ReadIndex can skip the leadership check, and its lease
    // trusts
    // clocks. See ReadBarrier. Set to the strictest all the same.
    Read.setTimeout(p, ms(s.requestTimeoutMs()));
    Read.setOption(p, Read.Option.LINEARIZABLE);
    Read.setLeaderLeaseEnabled(p, false);
    Read.setLeaderLeaseTimeoutRatio(p, 0.9);
    Read.setLeaderHeartbeatCheckEnabled(p, true);
    Read.ReadAfterWriteConsistent.setWriteIndexCacheExpiryTime(p, ms(60_000));
    Read.ReadIndex.setType(p, Read.ReadIndex.Type.COMMIT_INDEX);
    Read.ReadIndex.setRepliedIndexBatchInterval(p, ms(10));
    RaftServerConfigKeys.Watch.setElementLimit(p, 1);
    RaftServerConfigKeys.Watch.setTimeoutDenomination(p, ms(1_000));
    RaftServerConfigKeys.Watch.setTimeout(p, ms(10_000));
  }

  private static void pending(RaftProperties p, RaftSettings s) {
    // Twice our own bounds, which refuse first and certainly before anything is appended.
    RaftServerConfigKeys.Write.setElementLimit(p, 2 * s.pendingEntriesMax());
    RaftServerConfigKeys.Write.setByteLimit(p, size(2 * s.pendingBytesMax()));
    RaftServerConfigKeys.Write.setFollowerGapRatioMax(p, -1);
    RaftServerConfigKeys.Log.setQueueElementLimit(p, 2 * s.pendingEntriesMax());
    RaftServerConfigKeys.Log.setQueueByteLimit(p, size(2 * s.pendingBytesMax()));
  }

  private static void log(RaftProperties p, RaftSettings s) {
    RaftServerConfigKeys.Log.setUseMemory(p, false);
    RaftServerConfigKeys.Log.setSegmentSizeMax(p, size(s.segmentBytesMax()));
    RaftServerConfigKeys.Log.setPreallocatedSize(p, size(s.preallocatedBytes()));
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(p, s.cachedSegments());
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(p, size(s.cachedBytesMax()));
    // One direct buffer a group; must hold one entry and 8 bytes.
    RaftServerConfigKeys.Log.setWriteBufferSize(p, size(s.appendBytesMax() + 64L * 1024));
    RaftServerConfigKeys.Log.setForceSyncNum(p, 128);
    RaftServerConfigKeys.Log.setUnsafeFlushEnabled(p, false);
    RaftServerConfigKeys.Log.setAsyncFlushEnabled(p, false);
    // Damage is refused, not skipped; LogInspection has looked before Ratis does.
    RaftServerConfigKeys.Log.setCorruptionPolicy(p, CorruptionPolicy.EXCEPTION);
    // One more entry for each commit otherwise; the commit index is learned from the next leader.
    RaftServerConfigKeys.Log.setLogMetadataEnabled(p, false);
    RaftServerConfigKeys.Log.setReadLockEnabled(p, true);
    // Composed appends stay poisoned after one failure (RATIS-2387, RATIS-2505).
    RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(p, false);
    RaftServerConfigKeys.Log.setPurgeGap(p, 1);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, true);
    RaftServerConfigKeys.Log.setPurgePreservationLogNum(p, s.purgeKeepEntries());

    // The state machine's data hook is where DurableDirectory fsyncs: waited for before each flush.
    RaftServerConfigKeys.Log.StateMachineData.setSync(p, true);
    RaftServerConfigKeys.Log.StateMachineData.setSyncTimeout(p, ms(30_000));
    RaftServerConfigKeys.Log.StateMachineData.setSyncTimeoutRetry(p, -1);
    RaftServerConfigKeys.Log.StateMachineData.setReadTimeout(p, ms(1_000));
    RaftServerConfigKeys.Log.StateMachineData.setCachingEnabled(p, false);

    RaftServerConfigKeys.Log.Appender.setBufferElementLimit(p, 0);
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, size(s.appendBytesMax()));
    RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(p, size(4L << 20));
    RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(p, true);
    RaftServerConfigKeys.Log.Appender.setWaitTimeMin(p, ms(1));
    // How soon a peer that comes back is spoken to again. Ratis waits up to 5 s.
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(p, "5ms,10, 100ms,50, 500ms,1000");
  }

  private static void snapshots(RaftProperties p) {
    // Counts entries, whatever their size; Upkeep asks by bytes and age instead.
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, false);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(p, Long.MAX_VALUE);
    RaftServerConfigKeys.Snapshot.setTriggerWhenStopEnabled(p, false);
    RaftServerConfigKeys.Snapshot.setTriggerWhenRemoveEnabled(p, false);
    RaftServerConfigKeys.Snapshot.setCreationGap(p, 1);
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(p, 2);
  }

  private static void grpc(RaftProperties p, RaftSettings s, String bindHost, int port) {
    GrpcConfigKeys.setUseEpoll(p, true);
    GrpcConfigKeys.setMessageSizeMax(p, size(Math.max(16L << 20, 2L * s.appendBytesMax())));
    GrpcConfigKeys.setFlowControlWindow(p, size(s.windowBytes()));
    GrpcConfigKeys.Server.setHost(p, bindHost);
    GrpcConfigKeys.Server.setPort(p, port);
    // One port for all: the gate refuses what is not Raft between peers.
    GrpcConfigKeys.Admin.setHost(p, bindHost);
    GrpcConfigKeys.Admin.setPort(p, port);
    GrpcConfigKeys.Client.setHost(p, bindHost);
    GrpcConfigKeys.Client.setPort(p, port);
    GrpcConfigKeys.Client.setWorkerGroupSize(p, 0);
    GrpcConfigKeys.Server.setAsyncRequestThreadPoolCached(p, false);
    GrpcConfigKeys.Server.setAsyncRequestThreadPoolSize(p, 1);
    GrpcConfigKeys.Server.setLeaderOutstandingAppendsMax(p, s.outstandingAppends());
    GrpcConfigKeys.Server.setInstallSnapshotRequestElementLimit(p, 8);
    GrpcConfigKeys.Server.setInstallSnapshotRequestTimeout(p, ms(s.requestTimeoutMs()));
    GrpcConfigKeys.Server.setHeartbeatChannel(p, true);
    GrpcConfigKeys.Server.setLogMessageBatchDuration(p, ms(10_000));
    GrpcConfigKeys.Server.setStubPoolSize(p, 1);
    GrpcConfigKeys.Server.setBossGroupSize(p, 0);
    GrpcConfigKeys.Server.setWorkerGroupSize(p, 0);
  }

  private static TimeDuration ms(long value) {
    return TimeDuration.valueOf(value, TimeUnit.MILLISECONDS);
  }

  private static SizeInBytes size(long bytes) {
    return SizeInBytes.valueOf(bytes);
  }
}
