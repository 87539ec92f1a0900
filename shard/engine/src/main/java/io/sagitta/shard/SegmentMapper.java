// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.format.MappedSegment;
import io.sagitta.shard.segment.FlushedSegment;
import io.sagitta.shard.segment.Lives;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps a segment's files, reads the vectors of fields that are kept in memory as far as there is
 * room, and accounts for all of them.
 */
record SegmentMapper(FileStore store, BufferAllocator allocator, MemoryBudget memory) {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentMapper.class);

  /** A segment of which nothing is kept in memory: it is read once. */
  FlushedSegment map(UUID id, long number, Lives lives) throws IOException {
    return map(id, number, lives, new Charges());
  }

  /**
   * A segment whose fields are kept as a schema says.
   *
   * @param schema the shard's, which may have gone on since the segment was frozen
   */
  FlushedSegment map(UUID id, long number, Lives lives, CollectionSchema schema)
      throws IOException {
    return map(id, number, lives, new Charges(schema));
  }

  private FlushedSegment map(UUID id, long number, Lives lives, Charges charges)
      throws IOException {
    MappedSegment mapped;
    try {
      mapped = MappedSegment.open(store, id, allocator, charges);
    } catch (Throwable e) {
      charges.giveBack();
      throw e;
    }
    long all = mapped.files().stream().mapToLong(CheckpointFile::length).sum();
    charges.charge(Part.COLUMNS_MAPPED, all - charges.total());
    return new FlushedSegment(number, mapped, lives, charges::giveBack);
  }

  /** What one segment is charged with. */
  private final class Charges implements MappedSegment.Residence {
    private final CollectionSchema schemaOrNull;
    private final long[] charged = new long[Part.values().length];

    private Charges() {
      this(null);
    }

    private Charges(CollectionSchema schemaOrNull) {
      this.schemaOrNull = schemaOrNull;
    }

    @Override
    public boolean inMemory(int fieldId, long bytes) {
      if (!isWanted(fieldId)) {
        charge(Part.VECTORS_MAPPED, bytes);
        return false;
      }
      if (memory.tryAdd(Part.VECTORS, bytes)) {
        charged[Part.VECTORS.ordinal()] += bytes;
        return true;
      }
      LOG.warn(
          "{}: no room in memory for {} bytes of vectors (memory.resident_bytes {}, in use {}): they"
              + " are read from their file",
          store,
          bytes,
          memory.residentBytesMax(),
          memory.residentBytes());
      charge(Part.DISPLACED, bytes);
      return false;
    }

    private boolean isWanted(int fieldId) {
      return schemaOrNull != null
          && schemaOrNull.field(fieldId).orElse(null) instanceof VectorField field
          && field.storage() == VectorStorage.MEMORY;
    }

    private void charge(Part part, long bytes) {
      memory.add(part, bytes);
      charged[part.ordinal()] += bytes;
    }

    private long total() {
      long total = 0;
      for (long bytes : charged) {
        total += bytes;
      }
      return total;
    }

    private void giveBack() {
      for (Part part : Part.values()) {
        charge(part, -charged[part.ordinal()]);
      }
    }
  }
}
