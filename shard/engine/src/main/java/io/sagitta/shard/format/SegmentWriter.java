// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.PayloadField;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.VectorField;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Schema;

/** Writes a segment's files, the same bytes for the same rows. */
public final class SegmentWriter {
  static final int MESSAGES = 1;
  static final int CHUNKS = 2;
  static final int HASH = 3;
  static final int PREVIOUS = 4;
  static final int VERSIONS = 1;

  private final SegmentSource source;
  private final FileStore store;
  private final BufferAllocator allocator;
  private final List<Integer> cuts;

  private SegmentWriter(SegmentSource source, FileStore store, BufferAllocator allocator) {
    this.source = source;
    this.store = store;
    this.allocator = allocator;
    this.cuts = ChunkCuts.of(source.chunks(), messageSchema(source.schema()));
  }

  /**
   * Writes all files of a segment. Their bytes are durable on return, their names once a manifest
   * names them. Files that an interrupted attempt left behind are replaced.
   *
   * @param allocator named where Arrow asks for one; nothing is allocated from it
   * @return the files, for the manifest
   */
  public static List<CheckpointFile> write(
      SegmentSource source, FileStore store, BufferAllocator allocator) throws IOException {
    checkChunks(source);
    return new SegmentWriter(source, store, allocator).write();
  }

  private List<CheckpointFile> write() throws IOException {
    UUID segmentId = source.segmentId();
    List<CheckpointFile> files = new ArrayList<>();
    for (VectorField field : source.schema().vectorFields()) {
      files.add(VectorsFile.write(store, source, field));
    }
    files.add(
        NewFile.write(
            store, ShardFiles.payload(segmentId), header(FileKind.PAYLOAD), this::writePayload));
    files.add(
        NewFile.write(store, ShardFiles.ids(segmentId), header(FileKind.IDS), this::writeIds));
    files.add(
        NewFile.write(
            store, ShardFiles.versions(segmentId), header(FileKind.VERSIONS), this::writeVersions));
    files.add(new SegmentInfo(segmentId, source.rows(), source.schema(), files).write(store));
    return files;
  }

  /** The payload fields of a schema, as columns of {@code .payload}. */
  static Schema payloadSchema(CollectionSchema schema) {
    return ArrowSchemas.batchSchema(
        schema,
        schema.fields().stream()
            .filter(PayloadField.class::isInstance)
            .map(Field::fieldId)
            .toList());
  }

  /** The id column, as the only column of {@code .ids}. */
  static Schema idSchema(CollectionSchema schema) {
    return ArrowSchemas.batchSchema(schema, List.of(RowBatch.COLUMN_ID));
  }

  /** Columns of a chunk as they are read: id, then payload. */
  static Schema messageSchema(CollectionSchema schema) {
    List<org.apache.arrow.vector.types.pojo.Field> columns = new ArrayList<>();
    columns.addAll(idSchema(schema).getFields());
    columns.addAll(payloadSchema(schema).getFields());
    return new Schema(columns);
  }

  private static void checkChunks(SegmentSource source) {
    int next = 0;
    for (RowChunk chunk : source.chunks()) {
      if (chunk.firstOrdinal() != next) {
        throw new IllegalArgumentException(
            "chunk begins at row " + chunk.firstOrdinal() + ", expected " + next);
      }
      next += chunk.rows();
    }
    if (next != source.rows()) {
      throw new IllegalArgumentException(
          "chunks hold " + next + " rows, expected " + source.rows());
    }
  }

  private FrameHeader header(FileKind kind) {
    return new FrameHeader(kind, source.segmentId(), 0, source.rows());
  }

  private void writePayload(FrameWriter out) throws IOException {
    writeMessages(out, payloadSchema(source.schema()));
  }

  private void writeIds(FrameWriter out) throws IOException {
    writeMessages(out, idSchema(source.schema()));
    try (Arena arena = Arena.ofConfined()) {
      IdRows ids = new IdRows(source.schema().idType(), source.chunks());
      IdHash hash = IdHash.build(ids, source.rows(), arena);
      out.section(HASH);
      out.write(hash.table());
      if (hash.previousOrNull() != null) {
        out.section(PREVIOUS);
        out.write(hash.previousOrNull());
      }
    }
  }

  private void writeVersions(FrameWriter out) throws IOException {
    out.section(VERSIONS);
    for (int row = 0; row < source.rows(); row++) {
      out.writeLong(source.version(row));
    }
  }

  private void writeMessages(FrameWriter out, Schema columns) throws IOException {
    out.section(MESSAGES);
    List<ChunkTable.Entry> entries = new ArrayList<>();
    for (int i = 0; i + 1 < cuts.size(); i++) {
      int from = cuts.get(i);
      int rows = cuts.get(i + 1) - from;
      ByteBuffer message = RowBatchCodec.encodeMessage(columns, parts(from, rows), allocator);
      out.writeZeros(
          FrameLayout.align(out.sectionPosition(), FrameLayout.SECTION_ALIGNMENT)
              - out.sectionPosition());
      entries.add(new ChunkTable.Entry(out.sectionPosition(), message.remaining(), from, rows));
      out.write(MemorySegment.ofBuffer(message));
    }
    ChunkTable.write(out, CHUNKS, entries);
  }

  /** Rows {@code from} to {@code from + rows - 1}, wherever they lie. */
  private List<RowSelection> parts(int from, int rows) {
    List<RowSelection> parts = new ArrayList<>();
    int end = from + rows;
    for (RowChunk chunk : source.chunks()) {
      int first = Math.max(from, chunk.firstOrdinal());
      int last = Math.min(end, chunk.firstOrdinal() + chunk.rows());
      if (first < last) {
        parts.add(RowSelection.range(chunk.columns(), first - chunk.firstOrdinal(), last - first));
      }
    }
    return parts;
  }
}
