// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.format.MappedSegment;
import io.sagitta.shard.segment.FlushedSegment;
import io.sagitta.shard.segment.Lives;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;

/** Maps a segment's files and accounts for them. */
record SegmentMapper(FileStore store, BufferAllocator allocator, MemoryBudget memory) {
  FlushedSegment map(UUID id, long number, Lives lives) throws IOException {
    MappedSegment mapped = MappedSegment.open(store, id, allocator);
    long bytes = mapped.files().stream().mapToLong(CheckpointFile::length).sum();
    memory.add(Part.MAPPED, bytes);
    return new FlushedSegment(number, mapped, lives, () -> memory.add(Part.MAPPED, -bytes));
  }
}
