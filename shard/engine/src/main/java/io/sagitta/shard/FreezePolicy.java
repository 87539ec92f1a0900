// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

/**
 * When apply freezes the growing segment: as soon as one of the limits is reached. It is logged
 * with {@link ShardInit} and not a setting of a node, since all replicas must freeze the same rows.
 *
 * @param rows rows in the growing segment
 * @param bytes bytes of log entries since the last freeze
 * @param entries log entries since the last freeze, so that an idle shard's log is bounded too
 */
public record FreezePolicy(int rows, long bytes, int entries) {
  /** Replay after a crash then reads at most some 64 MiB of log. */
  public static final FreezePolicy DEFAULT = new FreezePolicy(131_072, 64L << 20, 65_536);

  public FreezePolicy {
    if (rows < 1 || bytes < 1 || entries < 1) {
      throw new IllegalArgumentException(
          "freeze after "
              + rows
              + " rows, "
              + bytes
              + " bytes, "
              + entries
              + " entries: each must be at least 1");
    }
  }
}
