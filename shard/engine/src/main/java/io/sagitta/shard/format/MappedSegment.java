// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.BorrowedMemory;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.HashSlot;
import io.sagitta.model.PointId;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.segment.RowChunk;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A flushed segment, its files mapped, but for vectors that are kept in memory. Any thread may
 * read; close it once, when nobody does. The memory behind {@link #chunks} outlives the close as
 * long as vectors that were transferred out of them do.
 */
public final class MappedSegment implements AutoCloseable {
  private final FileStore store;
  private final SegmentInfo info;
  private final List<CheckpointFile> files;
  private final Arena arena = Arena.ofShared();
  private final BorrowedMemory memory;
  private final Map<String, Frame> frames = new HashMap<>();
  private final Map<Integer, MappedVectors> vectors = new HashMap<>();
  private final List<RowChunk> chunks = new ArrayList<>();
  private final BufferAllocator allocator;
  private IdRows ids;
  private IdHash hash;
  private MemorySegment versions;

  /** Says where a field's vectors are read from. */
  public interface Residence {
    /** All fields are mapped. */
    Residence MAPPED = (fieldId, bytes) -> false;

    /**
     * Whether a field's vectors are read into memory at once; else they are mapped.
     *
     * @param bytes of their file
     */
    boolean inMemory(int fieldId, long bytes);
  }

  private MappedSegment(
      FileStore store, SegmentInfo info, List<CheckpointFile> files, BufferAllocator allocator) {
    this.store = store;
    this.info = info;
    this.files = files;
    this.allocator = allocator;
    this.memory =
        new BorrowedMemory(
            allocator, files.stream().mapToLong(CheckpointFile::length).sum(), arena::close);
  }

  /**
   * Maps a segment's files and checks the frame of each, and small files whole.
   *
   * @param allocator named as the owner of the columns; mapped memory is not charged to it
   * @throws CorruptFileException naming the file when one is damaged or is not the segment's
   */
  public static MappedSegment open(FileStore store, UUID segmentId, BufferAllocator allocator)
      throws IOException {
    return open(store, segmentId, allocator, Residence.MAPPED);
  }

  /** As above, with the vectors of some fields read into memory. */
  public static MappedSegment open(
      FileStore store, UUID segmentId, BufferAllocator allocator, Residence residence)
      throws IOException {
    SegmentInfo info = SegmentInfo.read(store, segmentId);
    MappedSegment segment = new MappedSegment(store, info, withItself(store, info), allocator);
    try {
      segment.map(residence);
      return segment;
    } catch (Throwable e) {
      segment.close();
      throw e;
    }
  }

  private static List<CheckpointFile> withItself(FileStore store, SegmentInfo info)
      throws IOException {
    List<CheckpointFile> files = new ArrayList<>(info.files());
    String name = ShardFiles.segment(info.segmentId());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = store.map(name, arena);
      files.add(new CheckpointFile(name, bytes.byteSize(), Checksums.of(bytes)));
    }
    return List.copyOf(files);
  }

  private void map(Residence residence) throws IOException {
    Set<String> inMemory = new HashSet<>();
    for (VectorField field : info.schema().vectorFields()) {
      String name = ShardFiles.vectors(segmentId(), field.fieldId());
      for (CheckpointFile file : info.files()) {
        if (file.name().equals(name) && residence.inMemory(field.fieldId(), file.length())) {
          inMemory.add(name);
        }
      }
    }
    for (CheckpointFile file : info.files()) {
      Frame frame =
          inMemory.contains(file.name())
              ? Frame.load(store, file.name(), arena)
              : Frame.map(store, file.name(), arena);
      if (frame.file().byteSize() != file.length()) {
        throw new CorruptFileException(
            file.name(), 0, "length of the file", file.length(), frame.file().byteSize());
      }
      frames.put(file.name(), frame);
    }
    for (VectorField field : info.schema().vectorFields()) {
      Frame frame = frame(ShardFiles.vectors(segmentId(), field.fieldId()));
      vectors.put(field.fieldId(), VectorsFile.read(frame, field, rows()));
    }
    versions =
        frame(ShardFiles.versions(segmentId()), FileKind.VERSIONS)
            .section(SegmentWriter.VERSIONS, (long) rows() * Long.BYTES);
    Frame idFrame = frame(ShardFiles.ids(segmentId()), FileKind.IDS);
    mapChunks(idFrame, frame(ShardFiles.payload(segmentId()), FileKind.PAYLOAD));
    ids = new IdRows(info.schema().idType(), chunks);
    MemorySegment previous = idFrame.sectionOrNull(SegmentWriter.PREVIOUS);
    hash =
        new IdHash(
            idFrame.name(),
            ids,
            rows(),
            idFrame.section(SegmentWriter.HASH, IdHash.tableBytes(rows())),
            previous == null
                ? null
                : idFrame.section(SegmentWriter.PREVIOUS, (long) rows() * Integer.BYTES));
  }

  private void mapChunks(Frame idFrame, Frame payloadFrame) throws IOException {
    MemorySegment idMessages = idFrame.section(SegmentWriter.MESSAGES);
    MemorySegment payloadMessages = payloadFrame.section(SegmentWriter.MESSAGES);
    List<ChunkTable.Entry> idEntries =
        ChunkTable.read(idFrame, SegmentWriter.CHUNKS, idMessages, rows());
    List<ChunkTable.Entry> payloadEntries =
        ChunkTable.read(payloadFrame, SegmentWriter.CHUNKS, payloadMessages, rows());
    if (idEntries.size() != payloadEntries.size()) {
      throw new CorruptFileException(
          idFrame.name(),
          0,
          "%d chunks, the payload has %d".formatted(idEntries.size(), payloadEntries.size()));
    }
    Schema idColumns = SegmentWriter.idSchema(info.schema());
    Schema payloadColumns = SegmentWriter.payloadSchema(info.schema());
    Schema columns = SegmentWriter.messageSchema(info.schema());
    for (int i = 0; i < idEntries.size(); i++) {
      ChunkTable.Entry entry = idEntries.get(i);
      if (entry.firstOrdinal() != payloadEntries.get(i).firstOrdinal()) {
        throw new CorruptFileException(idFrame.name(), 0, "chunk " + i + " begins elsewhere");
      }
      VectorSchemaRoot idRoot = view(idFrame, idMessages, entry, idColumns);
      List<FieldVector> all = new ArrayList<>(idRoot.getFieldVectors());
      try {
        all.addAll(
            view(payloadFrame, payloadMessages, payloadEntries.get(i), payloadColumns)
                .getFieldVectors());
      } catch (Throwable e) {
        idRoot.close();
        throw e;
      }
      chunks.add(
          new RowChunk(entry.firstOrdinal(), new VectorSchemaRoot(columns, all, entry.rows())));
    }
  }

  private VectorSchemaRoot view(
      Frame frame, MemorySegment messages, ChunkTable.Entry entry, Schema columns)
      throws CorruptFileException {
    MemorySegment message = messages.asSlice(entry.offset(), entry.length());
    try {
      return RowBatchCodec.view(message, columns, entry.rows(), memory, allocator);
    } catch (SagittaException e) {
      throw new CorruptFileException(
          frame.name(), message.address() - frame.file().address(), e.getMessage());
    }
  }

  private Frame frame(String name, FileKind kind) throws CorruptFileException {
    return frame(name).expect(new FrameHeader(kind, segmentId(), 0, rows()));
  }

  private Frame frame(String name) throws CorruptFileException {
    Frame frame = frames.get(name);
    if (frame == null) {
      throw new CorruptFileException(
          ShardFiles.segment(segmentId()), FrameLayout.HEADER_BYTES, name + " is not listed");
    }
    return frame;
  }

  public UUID segmentId() {
    return info.segmentId();
  }

  /** The fields when the segment was frozen. */
  public CollectionSchema schema() {
    return info.schema();
  }

  public int rows() {
    return info.rows();
  }

  /** Ids and payload of all rows, from ordinal 0; each chunk begins at a multiple of 64. */
  public List<RowChunk> chunks() {
    return chunks;
  }

  /** The vectors of a field; of one that was added later, none for every row. */
  public MappedVectors vectors(VectorField field) {
    MappedVectors found = vectors.get(field.fieldId());
    return found == null ? MappedVectors.absent(field, rows()) : found;
  }

  /** int64 for each row, little-endian. */
  public MemorySegment versions() {
    return versions;
  }

  /** {@code _version} of a row. */
  public long version(int ordinal) {
    return versions.get(FrameLayout.LONG, (long) ordinal * Long.BYTES);
  }

  /** The id of a row. */
  public PointId id(int ordinal) {
    return ids.get(ordinal);
  }

  /** The newest row with an id, or -1. */
  public int find(byte[] canonicalId) {
    return find(HashSlot.hash(canonicalId), canonicalId, canonicalId.length);
  }

  /**
   * As above for {@code length} bytes at the front of an array, and their {@link HashSlot#hash}.
   */
  public int find(long hash, byte[] canonicalId, int length) {
    return this.hash.find(hash, canonicalId, length);
  }

  /** The newest row with the id of the given row that is older than it, or -1. */
  public int previous(int ordinal) {
    return hash.previous(ordinal);
  }

  /** The segment's files, in the order in which they were written. */
  public List<CheckpointFile> files() {
    return files;
  }

  /**
   * Reads every byte and compares all checksums: what the scrub does.
   *
   * @throws CorruptFileException naming the first file and block that is damaged
   */
  public void verify() throws IOException {
    SegmentInfo.read(store, segmentId());
    for (CheckpointFile file : info.files()) {
      try (Arena scrubbed = Arena.ofConfined()) { // the file, not what was read from it once
        Frame frame = Frame.map(store, file.name(), scrubbed).verify();
        int found = Checksums.of(frame.file());
        if (found != file.checksum()) {
          throw new CorruptFileException(
              file.name(), 0, "checksum of the file", file.checksum(), found);
        }
      }
    }
  }

  @Override
  public void close() {
    chunks.forEach(chunk -> chunk.columns().close());
    memory.release();
  }
}
