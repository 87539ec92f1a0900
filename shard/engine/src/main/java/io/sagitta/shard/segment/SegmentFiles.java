// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ShardId;
import io.sagitta.shard.format.SegmentSource;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/** Segments in memory as sources of files, under names that every replica gives them. */
public final class SegmentFiles {
  private SegmentFiles() {}

  /** Name of a complete segment's files. */
  public static UUID id(ShardId shard, long number) {
    return named(shard + "/" + number);
  }

  /** Name of the files that hold the first rows of a growing segment, as of a log index. */
  public static UUID prefixId(ShardId shard, long number, long index) {
    return named(shard + "/" + number + "@" + index);
  }

  private static UUID named(String name) {
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }

  /** The rows of a segment that lies in memory. */
  public static SegmentSource source(UUID id, Segment segment) {
    return new SegmentSource() {
      @Override
      public UUID segmentId() {
        return id;
      }

      @Override
      public CollectionSchema schema() {
        return segment.schema();
      }

      @Override
      public int rows() {
        return segment.rows();
      }

      @Override
      public List<RowChunk> chunks() {
        return segment.runs().stream().map(RowRun::columns).toList();
      }

      @Override
      public long version(int ordinal) {
        return segment.version(ordinal);
      }

      @Override
      public float inverseNorm(int fieldId, int ordinal) {
        RowRun run = segment.runOf(ordinal);
        return run.vectors(fieldId).inverseNorm(ordinal - run.start());
      }
    };
  }
}
