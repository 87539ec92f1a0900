// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.RandomRows;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * A shard's checkpoints as they come and go: a first segment, a second one while rows of the first
 * die, then both merged into a third. All content follows from the log index.
 */
final class CheckpointFixture {
  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.UTF8,
          List.of(
              new VectorField(1, "v", VectorType.FLOAT32, 4, Metric.COSINE, true),
              new PayloadField(2, "text", PayloadType.of(PayloadType.Kind.UTF8))));

  private static final int ROWS = 10;

  private final FileStore store;
  private final BufferAllocator allocator;

  CheckpointFixture(FileStore store, BufferAllocator allocator) {
    this.store = store;
    this.allocator = allocator;
  }

  /** Log indexes of the checkpoints, in order. */
  static List<Long> steps() {
    return List.of(100L, 200L, 300L);
  }

  /** Writes the files of a checkpoint and gives its manifest, not yet published. */
  Manifest write(long logIndex) throws IOException {
    List<UUID> segments =
        switch ((int) logIndex) {
          case 100 -> List.of(id(1));
          case 200 -> List.of(id(1), id(2));
          default -> List.of(id(logIndex));
        };
    List<CheckpointFile> files = new ArrayList<>();
    List<Manifest.SegmentRef> refs = new ArrayList<>();
    for (UUID segment : segments) {
      files.addAll(writeSegment(segment));
      CheckpointFile lives = LivesFile.write(store, segment, logIndex, alive(logIndex), ROWS);
      files.add(lives);
      refs.add(new Manifest.SegmentRef(segment, ROWS, OptionalLong.of(logIndex)));
    }
    CheckpointFile sessions = SessionsFile.write(store, logIndex, sessions(logIndex));
    files.add(sessions);
    return new Manifest(0, 7, logIndex, 1, state(logIndex), refs, OptionalLong.of(logIndex), files);
  }

  /** Fails unless a checkpoint has exactly what {@link #write} wrote for its log index. */
  void check(Manifest manifest) throws IOException {
    long logIndex = manifest.logIndex();
    if (!Arrays.equals(manifest.state(), state(logIndex))
        || !Arrays.equals(
            SessionsFile.read(store, manifest.sessionsIndex().orElseThrow()), sessions(logIndex))) {
      throw new AssertionError("state of checkpoint " + logIndex + " differs");
    }
    for (Manifest.SegmentRef ref : manifest.segments()) {
      long[] alive =
          LivesFile.read(store, ref.segmentId(), ref.livesIndex().orElseThrow(), ref.rows());
      if (!Arrays.equals(alive, alive(logIndex))) {
        throw new AssertionError("lives of checkpoint " + logIndex + " differ");
      }
      try (MappedSegment segment = MappedSegment.open(store, ref.segmentId(), allocator);
          VectorSchemaRoot rows = rows(ref.segmentId())) {
        segment.verify();
        if (segment.rows() != ROWS
            || !segment.id(3).toString().equals(rows.getVector(0).getObject(3).toString())) {
          throw new AssertionError("rows of segment " + ref.segmentId() + " differ");
        }
      }
    }
  }

  static UUID id(long number) {
    return new UUID(0x5a61L, number);
  }

  private List<CheckpointFile> writeSegment(UUID segment) throws IOException {
    try (VectorSchemaRoot rows = rows(segment)) {
      return SegmentWriter.write(new RowsSource(segment, SCHEMA, List.of(rows)), store, allocator);
    }
  }

  private VectorSchemaRoot rows(UUID segment) {
    return RandomRows.rows(
        SCHEMA,
        RandomRows.allColumns(SCHEMA),
        ROWS,
        new SplittableRandom(segment.getLeastSignificantBits()),
        allocator);
  }

  private static long[] alive(long logIndex) {
    return new long[] {logIndex & ((1L << ROWS) - 1)};
  }

  private static byte[] sessions(long logIndex) {
    return ("writers at " + logIndex).getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  private static byte[] state(long logIndex) {
    return ("state at " + logIndex).getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }
}
