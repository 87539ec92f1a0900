// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.shard.FreezePolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * How one node runs. Read once from a YAML file ({@link ConfigFile}), checked once, never changed.
 * The file {@code node-example.yaml} beside this class explains every key; nothing here is
 * cluster-wide, since what the cluster agrees on lives in the metadata group.
 *
 * @param dataDir the data folder: identity, Raft logs, shards, log files; one node's own
 * @param host address to listen on
 * @param advertisedHost name or address at which the other nodes reach this one
 * @param ports where it listens
 * @param membership how it finds its cluster when the data folder is new
 * @param security who may connect
 * @param memory bounds of memory
 * @param limits bounds of work
 * @param timeouts waits
 * @param disk watermarks of the data folder's file system
 * @param log bounds of a shard's Raft log
 */
public record NodeConfig(
    Path dataDir,
    String host,
    String advertisedHost,
    Ports ports,
    Membership membership,
    Security security,
    Memory memory,
    Limits limits,
    Timeouts timeouts,
    Disk disk,
    Log log) {

  /**
   * TCP ports (docs/protocol.md, section 1).
   *
   * @param flight public Arrow Flight
   * @param internal Flight and gRPC between nodes
   * @param http REST and console; kept for them, nothing listens yet
   * @param ops {@code /livez}, {@code /readyz}, {@code /metrics}
   * @param metaRaft Raft of the metadata group
   * @param shardRaft Raft of the shard groups
   */
  public record Ports(int flight, int internal, int http, int ops, int metaRaft, int shardRaft) {

    /** Six ports in a row. */
    public static Ports from(int base) {
      return new Ports(base, base + 1, base + 2, base + 3, base + 4, base + 5);
    }
  }

  /** An address of another node's internal port. */
  public record HostPort(String host, int port) {
    @Override
    public String toString() {
      return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
  }

  /** How a new data folder gets its cluster. A folder that has one ignores this. */
  public sealed interface Membership {
    /** Founds a cluster of its own. */
    record Bootstrap() implements Membership {}

    /** Joins through any of these members. */
    record Join(List<HostPort> members) implements Membership {
      public Join {
        members = List.copyOf(members);
      }
    }
  }

  /** Who may connect. */
  public enum Security {
    /** Loopback addresses only: nobody outside this machine can connect. */
    LOOPBACK("loopback"),
    /** Any address, without encryption or credentials, on the operator's word. */
    INSECURE_PRIVATE_NETWORK("insecure-private-network");

    private final String text;

    Security(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /**
   * Memory, in bytes.
   *
   * @param offHeapBytes most that Arrow buffers may take together (batches on their way, growing
   *     segments, answers)
   * @param growingBytes most that rows not yet flushed may take over all shards; writes are refused
   *     above it until flushes have made room
   * @param residentBytes most that vectors of fields kept in memory, codes and links may take over
   *     all shards; writes are refused that would need more
   */
  public record Memory(long offHeapBytes, long growingBytes, long residentBytes) {}

  /**
   * Bounds of work.
   *
   * @param groups Raft groups (shard replicas) this node hosts; creation beyond is refused
   * @param searchThreads threads that search
   * @param searchQueue reads waiting for a thread; more are refused
   * @param writesInFlight bytes of writes proposed and not yet applied; more are refused
   * @param prefetchBytesPerSecond rate at which a checkpoint's files are fetched from a peer
   * @param logFileBytes size of one log file; ten are kept
   */
  public record Limits(
      int groups,
      int searchThreads,
      int searchQueue,
      long writesInFlight,
      long prefetchBytesPerSecond,
      long logFileBytes) {}

  /**
   * Waits, in milliseconds.
   *
   * @param metaElectionMs shortest election timeout of the metadata group; the longest is twice
   *     that
   * @param shardElectionMs the same of shard groups
   * @param joinMs how long a node tries to reach its cluster before it gives up
   * @param callMs how long a call may take that has no deadline of its own
   * @param drainMs how long calls under way may take to end at shutdown
   * @param reconcileMs pause between looks of the metadata leader at the cluster
   */
  public record Timeouts(
      int metaElectionMs,
      int shardElectionMs,
      int joinMs,
      int callMs,
      int drainMs,
      int reconcileMs) {}

  /**
   * Watermarks, percent of the file system in use; and how often files are looked through.
   *
   * @param warnPercent health warns
   * @param refusePercent writes are refused, deletes are not
   * @param scrubHours after which all bytes of a shard's files are compared with their checksums
   *     again; 0: only at a start
   */
  public record Disk(int warnPercent, int refusePercent, int scrubHours) {
    /** Half-way; from here on nothing is written that can be made again: graphs. */
    int derivePercent() {
      return (warnPercent + refusePercent) / 2;
    }
  }

  /**
   * Bounds of a shard's Raft log, which is what a restart replays.
   *
   * @param checkpointBytes bytes of log after which a checkpoint is written and the log before it
   *     is given back
   * @param checkpointMs time after which one is written if anything has changed
   * @param segmentBytes bytes of one log file; the log is given back in whole files
   * @param freezeRows rows after which a shard that is created here freezes its growing segment; it
   *     is logged with the shard, so its replicas do the same
   * @param freezeBytes bytes of log entries after which it does
   */
  public record Log(
      long checkpointBytes,
      long checkpointMs,
      long segmentBytes,
      int freezeRows,
      long freezeBytes) {}

  /** When new shards freeze; logged with each, so that it is one cluster's and not one node's. */
  FreezePolicy freeze() {
    return new FreezePolicy(log.freezeRows(), log.freezeBytes(), FreezePolicy.DEFAULT.entries());
  }

  /** Where this node joins, if it was told to. */
  public Optional<Membership.Join> join() {
    return membership instanceof Membership.Join join ? Optional.of(join) : Optional.empty();
  }

  /** This node's address between nodes. */
  public HostPort internalAddress() {
    return new HostPort(advertisedHost, ports.internal());
  }
}
