// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

/**
 * How one {@link RatisRaftHost} behaves. Ratis is configured per server, not per group, which is
 * one reason why the metadata group and the shard groups have a host each. Every value that could
 * sensibly differ between hosts, machines or tests is a field here; the rest is fixed, each with
 * its reason, in {@link RatisProperties}.
 *
 * @param electionMinMs a follower that hears nothing for a random time between this and {@code
 *     electionMaxMs} stands for election; heartbeats go out every half of it. Below a second, two
 *     cores under load lose leaders for nothing; above three, a killed leader is missed too long
 * @param electionMaxMs see above; more than {@code electionMinMs} so that candidates do not collide
 * @param firstElectionMinMs the same for the first election after start, when there is no leader to
 *     be patient with
 * @param firstElectionMaxMs see above
 * @param requestTimeoutMs when an appender gives up on one append request and sends it again
 * @param slownessTimeoutMs silence after which a follower is reported as slow
 * @param stagingTimeoutMs silence after which adding a new voter is given up; its prefetch may be
 *     long, but heartbeats are answered meanwhile
 * @param stagingGapEntries how close to the commit index a new voter must be before it counts
 * @param pauseStepDownMs a pause of this process after which it gives up its leaderships
 * @param pendingEntriesMax entries of one group in flight; small, so that a leader that is cut off
 *     stalls soon
 * @param pendingBytesMax bytes of one group in flight
 * @param appendBytesMax bytes of one append request, and hard limit of an encoded entry; above
 *     {@link io.sagitta.raft.RaftHost#ENTRY_BYTES_MAX} by the encoding's overhead at least
 * @param outstandingAppends append requests under way to one follower
 * @param windowBytes HTTP/2 flow control window of a stream; several append requests
 * @param segmentBytesMax bytes of a log segment; purge works in whole segments
 * @param preallocatedBytes bytes by which a segment file grows ahead of writing; zeros that are
 *     written twice, so not many
 * @param cachedSegments closed segments kept in memory for slow followers
 * @param cachedBytesMax their bytes
 * @param purgeKeepEntries entries kept behind a checkpoint so that a slow follower need not install
 * @param checkpointLogBytes bytes of log after which a checkpoint is asked for: bounds the disk and
 *     the time of a restart
 * @param checkpointAgeMs time after which a checkpoint is asked for if anything was applied since
 * @param reviveFreeBytes free space from which a group that has stopped for want of it is started
 *     again: its vote file and what a segment grows by must fit. Starting needs none, since a full
 *     node must still start to be read and emptied
 * @param installHoldMs how long a running install may hold back the purge of the log behind it
 * @param prefetchTimeoutMs how long one prefetch may take before it is asked for again
 * @param probeTimeoutMs how long a term probe may take before a read falls back to a no-op entry
 * @param waitersMax callers that may wait for one group's state to reach an index
 * @param tickMs period of upkeep: high-water marks, checkpoints, watching. At most 1000, since the
 *     high-water marks promise a second
 */
public record RaftSettings(
    int electionMinMs,
    int electionMaxMs,
    int firstElectionMinMs,
    int firstElectionMaxMs,
    int requestTimeoutMs,
    int slownessTimeoutMs,
    int stagingTimeoutMs,
    int stagingGapEntries,
    int pauseStepDownMs,
    int pendingEntriesMax,
    long pendingBytesMax,
    int appendBytesMax,
    int outstandingAppends,
    int windowBytes,
    long segmentBytesMax,
    long preallocatedBytes,
    int cachedSegments,
    long cachedBytesMax,
    int purgeKeepEntries,
    long checkpointLogBytes,
    long checkpointAgeMs,
    long reviveFreeBytes,
    long installHoldMs,
    long prefetchTimeoutMs,
    int probeTimeoutMs,
    int waitersMax,
    int tickMs) {

  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  public RaftSettings {
    require(electionMinMs > 0 && electionMaxMs > electionMinMs, "electionMinMs < electionMaxMs");
    require(
        firstElectionMinMs > 0 && firstElectionMaxMs > firstElectionMinMs,
        "firstElectionMinMs < firstElectionMaxMs");
    require(requestTimeoutMs > electionMaxMs, "requestTimeoutMs > electionMaxMs");
    require(stagingTimeoutMs > electionMaxMs, "stagingTimeoutMs > electionMaxMs");
    require(pendingEntriesMax > 0 && pendingBytesMax >= 2L * MIB, "pending bounds");
    require(appendBytesMax >= MIB + 64 * KIB, "appendBytesMax holds an entry with its overhead");
    require(windowBytes >= appendBytesMax, "windowBytes >= appendBytesMax");
    require(segmentBytesMax >= 64 * KIB, "segmentBytesMax");
    require(preallocatedBytes > 0 && preallocatedBytes <= segmentBytesMax, "preallocatedBytes");
    require(tickMs > 0 && tickMs <= 1000, "tickMs in 1..1000");
    require(waitersMax > 0 && probeTimeoutMs > 0, "waitersMax, probeTimeoutMs");
  }

  /** For the metadata group: small entries, and everything waits for its leader. */
  public static RaftSettings metadata() {
    return new RaftSettings(
        1000,
        2000,
        200,
        600,
        5_000,
        60_000,
        60_000,
        64,
        5_000,
        512,
        16L * MIB,
        MIB + 256 * KIB,
        8,
        4 * MIB,
        8L * MIB,
        256L * KIB,
        2,
        16L * MIB,
        64,
        32L * MIB,
        600_000,
        2L * MIB,
        120_000,
        600_000,
        1_000,
        16_384,
        1_000);
  }

  /** For shard groups: entries of 256 KiB to 1 MiB, many groups a process. */
  public static RaftSettings shards() {
    return new RaftSettings(
        1500,
        3000,
        200,
        600,
        10_000,
        60_000,
        60_000,
        64,
        5_000,
        512,
        48L * MIB,
        2 * MIB,
        8,
        4 * MIB,
        32L * MIB,
        MIB,
        2,
        48L * MIB,
        64,
        256L * MIB,
        600_000,
        8L * MIB,
        600_000,
        3_600_000,
        1_000,
        16_384,
        1_000);
  }

  /**
   * The same with other times until the first election after a start. Whoever is refused then waits
   * a whole election timeout. So among peers that may all be starting, the times must lie further
   * apart than a vote takes that is asked of a cold process.
   */
  public RaftSettings withFirstElections(int minMs, int maxMs) {
    return withTimes(
        electionMinMs, electionMaxMs, minMs, maxMs, requestTimeoutMs, stagingTimeoutMs);
  }

  /** The same with other election timeouts, as an operator or a test may want them. */
  public RaftSettings withElections(int minMs, int maxMs) {
    int first = Math.min(firstElectionMinMs, minMs);
    return withTimes(
        minMs,
        maxMs,
        first,
        Math.max(first + 1, Math.min(firstElectionMaxMs, maxMs)),
        Math.max(requestTimeoutMs, 2 * maxMs),
        Math.max(stagingTimeoutMs, 2 * maxMs));
  }

  private RaftSettings withTimes(
      int electionMin,
      int electionMax,
      int firstElectionMin,
      int firstElectionMax,
      int requestTimeout,
      int stagingTimeout) {
    return new RaftSettings(
        electionMin,
        electionMax,
        firstElectionMin,
        firstElectionMax,
        requestTimeout,
        slownessTimeoutMs,
        stagingTimeout,
        stagingGapEntries,
        pauseStepDownMs,
        pendingEntriesMax,
        pendingBytesMax,
        appendBytesMax,
        outstandingAppends,
        windowBytes,
        segmentBytesMax,
        preallocatedBytes,
        cachedSegments,
        cachedBytesMax,
        purgeKeepEntries,
        checkpointLogBytes,
        checkpointAgeMs,
        reviveFreeBytes,
        installHoldMs,
        prefetchTimeoutMs,
        probeTimeoutMs,
        waitersMax,
        tickMs);
  }

  /**
   * The same with other bounds of the log.
   *
   * @param logBytes bytes of log after which a checkpoint is asked for
   * @param segmentBytes bytes of a log segment, by which the log is purged
   * @param ageMs time after which a checkpoint is asked for
   */
  public RaftSettings withLog(long logBytes, long segmentBytes, long ageMs) {
    return withSegments(segmentBytes, Math.min(preallocatedBytes, segmentBytes), logBytes, ageMs);
  }

  /** The same with logs that grow by no more than so many bytes at once. */
  public RaftSettings withLogSteps(long stepBytes) {
    return withSegments(
        segmentBytesMax,
        Math.min(preallocatedBytes, stepBytes),
        checkpointLogBytes,
        checkpointAgeMs);
  }

  private RaftSettings withSegments(long segmentBytes, long stepBytes, long logBytes, long ageMs) {
    return new RaftSettings(
        electionMinMs,
        electionMaxMs,
        firstElectionMinMs,
        firstElectionMaxMs,
        requestTimeoutMs,
        slownessTimeoutMs,
        stagingTimeoutMs,
        stagingGapEntries,
        pauseStepDownMs,
        pendingEntriesMax,
        pendingBytesMax,
        appendBytesMax,
        outstandingAppends,
        windowBytes,
        segmentBytes,
        stepBytes,
        cachedSegments,
        cachedBytesMax,
        purgeKeepEntries,
        logBytes,
        ageMs,
        reviveFreeBytes,
        installHoldMs,
        prefetchTimeoutMs,
        probeTimeoutMs,
        waitersMax,
        tickMs);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalArgumentException("raft settings: " + what);
    }
  }
}
