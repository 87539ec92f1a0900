// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import java.util.UUID;

/**
 * What a file says of itself and what is expected of it; a file under another's name does not
 * match.
 *
 * @param kind what the file is
 * @param owner the segment's id; zero for files of the shard
 * @param number field id, log index or generation, by kind
 * @param rows rows of the segment
 */
record FrameHeader(FileKind kind, UUID owner, long number, long rows) {
  private static final UUID SHARD = new UUID(0, 0);

  /** Header of a file that belongs to no segment. */
  static FrameHeader ofShard(FileKind kind, long number) {
    return new FrameHeader(kind, SHARD, number, 0);
  }
}
