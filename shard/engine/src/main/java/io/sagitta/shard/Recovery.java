// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.shard.format.LivesFile;
import io.sagitta.shard.format.Manifest;
import io.sagitta.shard.format.SessionsFile;
import io.sagitta.shard.segment.FlushedSegment;
import io.sagitta.shard.segment.GrowingSegment;
import io.sagitta.shard.segment.IdColumn;
import io.sagitta.shard.segment.Lives;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import io.sagitta.shard.segment.Segments;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Turns a checkpoint's files back into the state they hold. The rows of the growing segment are
 * read into memory again and go on growing there, so that this replica's next freeze holds the same
 * rows as everybody's.
 */
final class Recovery {
  private static final int BLOCK_ROWS = 1_024;
  private static final long EVERYTHING = Long.MAX_VALUE - 1;

  private final SegmentMapper mapper;
  private final BufferAllocator rowsAllocator;
  private final BufferAllocator livesAllocator;

  Recovery(SegmentMapper mapper, BufferAllocator rowsAllocator, BufferAllocator livesAllocator) {
    this.mapper = mapper;
    this.rowsAllocator = rowsAllocator;
    this.livesAllocator = livesAllocator;
  }

  /** Fills empty segments; the caller publishes them. */
  Applier load(Manifest manifest, Segments segments) throws IOException {
    CheckpointState state = CheckpointState.fromBytes(manifest.stateVersion(), manifest.state());
    int sealed = manifest.segments().size() - (state.growingHasRows() ? 1 : 0);
    if (state.segments().size() != manifest.segments().size() || sealed < 0) {
      throw new IOException(
          "the checkpoint names %d segments, its state %d"
              .formatted(manifest.segments().size(), state.segments().size()));
    }
    for (int i = 0; i < sealed; i++) {
      Manifest.SegmentRef ref = manifest.segments().get(i);
      long number = state.segments().get(i);
      CollectionSchema schema = state.meta().schema();
      segments.restore(map(ref, lives -> mapper.map(ref.segmentId(), number, lives, schema)));
    }
    segments.start(state.meta().schema(), state.growing());
    if (state.growingHasRows()) {
      Manifest.SegmentRef ref = manifest.segments().getLast();
      FlushedSegment prefix =
          map(ref, lives -> mapper.map(ref.segmentId(), state.growing(), lives));
      try {
        grow(prefix, segments.growing());
      } finally {
        prefix.close();
        prefix.lives().close();
      }
      segments.restoreGrowing();
    }
    byte[] sessions =
        manifest.sessionsIndex().isPresent()
            ? SessionsFile.read(mapper.store(), manifest.sessionsIndex().getAsLong())
            : new byte[0];
    return new Applier(
        segments,
        rowsAllocator,
        SessionsCodec.decode(sessions, state.horizonMs()),
        state.meta(),
        state.timeMs(),
        state.bytesSinceFreeze(),
        state.entriesSinceFreeze());
  }

  private interface Mapping {
    FlushedSegment map(Lives lives) throws IOException;
  }

  private FlushedSegment map(Manifest.SegmentRef ref, Mapping mapping) throws IOException {
    Lives lives = new Lives(livesAllocator);
    try {
      if (ref.livesIndex().isPresent()) {
        long index = ref.livesIndex().getAsLong();
        lives.restore(
            LivesFile.read(mapper.store(), ref.segmentId(), index, ref.rows()), ref.rows());
      }
      return mapping.map(lives);
    } catch (Throwable e) {
      lives.close();
      throw e;
    }
  }

  private void grow(FlushedSegment from, GrowingSegment growing) {
    SegmentSet alone = new SegmentSet(from.schema(), List.<Segment>of(from), 0, EVERYTHING, 0);
    for (int start = 0; start < from.rows(); start += BLOCK_ROWS) {
      int count = Math.min(BLOCK_ROWS, from.rows() - start);
      long[] refs = new long[count];
      long[] versions = new long[count];
      for (int i = 0; i < count; i++) {
        refs[i] = SegmentSet.ref(0, start + i);
        versions[i] = from.version(start + i);
      }
      VectorSchemaRoot root = copy(from, new RowGather(alone, refs, count));
      IdColumn ids = IdColumn.of(from.schema().idType(), root.getVector(0));
      growing.append(root, ids.hashes(), versions);
    }
    for (int row = 0; row < from.rows(); row++) {
      if (!from.lives().isAlive(row, EVERYTHING)) {
        growing.lives().restoreDead(row);
      }
    }
  }

  private VectorSchemaRoot copy(FlushedSegment from, RowGather rows) {
    List<FieldVector> columns = new ArrayList<>();
    try {
      columns.add(rows.ids(from.schema().idType(), rowsAllocator));
      for (Field field : from.schema().fields()) {
        columns.add(rows.column(field, rowsAllocator));
      }
      return new VectorSchemaRoot(columns);
    } catch (Throwable e) {
      columns.forEach(FieldVector::close);
      throw e;
    }
  }
}
