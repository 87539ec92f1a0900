// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * The segment that apply appends to: the record batches as they were applied, never encoded again.
 * Small ones are joined in tiers, eight of about one size at a time, so that many tiny entries cost
 * a few copies of their bytes and end up in few chunks. Apply thread only; readers take {@link
 * #prefix}.
 *
 * <p>What joining and growing leave behind is handed out by {@link #takeRetired}, to be closed when
 * no earlier prefix is in use.
 */
public final class GrowingSegment {
  /** Chunks of one tier that are joined. */
  private static final int JOINED = 8;

  /** A chunk of at least this many bytes is large enough to be left alone. */
  private static final long LARGE_BYTES = 256 << 10;

  private static final long SMALLEST_TIER_BYTES = 512;

  private final long number;
  private final CollectionSchema schema;
  private final BufferAllocator allocator;
  private final LongPages versions;
  private final LongPages previous;
  private final Lives lives;
  private List<Leases.Closing> retired = new ArrayList<>();
  private IdTable table;
  private Chunk[] chunks = new Chunk[16];
  private int chunkCount;
  private int rows;
  private long bytes;

  /**
   * An empty segment.
   *
   * @param allocator holds its rows
   * @param livesAllocator holds its lives, which outlast the rows' stay in memory
   */
  public GrowingSegment(
      long number,
      CollectionSchema schema,
      BufferAllocator allocator,
      BufferAllocator livesAllocator) {
    this.number = number;
    this.schema = schema;
    this.allocator = allocator;
    this.versions = new LongPages(allocator);
    this.previous = new LongPages(allocator);
    this.lives = new Lives(livesAllocator);
    this.table = IdTable.empty(allocator);
  }

  public long number() {
    return number;
  }

  public CollectionSchema schema() {
    return schema;
  }

  public int rows() {
    return rows;
  }

  public Lives lives() {
    return lives;
  }

  /** Version of a row. */
  public long version(int row) {
    return versions.get(row);
  }

  /**
   * Appends rows, all of one version.
   *
   * @param root the id column, then every field of the schema in order; owned by the segment from
   *     here on; no id twice
   * @param hashes hash of each row's id
   */
  public void append(VectorSchemaRoot root, long[] hashes, long version) {
    long[] versionOfEach = new long[root.getRowCount()];
    Arrays.fill(versionOfEach, version);
    append(root, hashes, versionOfEach);
  }

  /** As above with a version for each row, not falling; ids may return, a later row replacing. */
  public void append(VectorSchemaRoot root, long[] hashes, long[] versionOfEach) {
    Chunk chunk = Chunk.of(schema, rows, root, allocator);
    add(chunk);
    for (int row = 0; row < chunk.rows(); row++) {
      versions.append(versionOfEach[row]);
      index(chunk, row, hashes[row]);
    }
    rows += chunk.rows();
    joinSmall();
  }

  /** The last row with an id, dead or alive, or NOT_FOUND; see {@link Segment#find}. */
  public int find(IdColumn ids, int row, long hash) {
    long cursor = cursorOf(ids, row, hash);
    return cursor == IdTable.END ? Segment.NOT_FOUND : table.row(cursor);
  }

  /** What a view sees from now on. */
  public GrowingPrefix prefix() {
    return new GrowingPrefix(number, schema, applied(), lives);
  }

  /** Ends the growth; this object must not be used any more, but for {@link #takeRetired}. */
  public FrozenSegment freeze() {
    List<Leases.Closing> memory = new ArrayList<>(Arrays.asList(chunks).subList(0, chunkCount));
    memory.add(versions);
    memory.add(previous);
    memory.add(table);
    return new FrozenSegment(number, schema, applied(), lives, memory);
  }

  /** What only earlier prefixes still reach; the caller closes it. */
  public List<Leases.Closing> takeRetired() {
    if (retired.isEmpty()) {
      return List.of();
    }
    List<Leases.Closing> taken = retired;
    retired = new ArrayList<>();
    return taken;
  }

  private AppliedRows applied() {
    return new AppliedRows(chunks, chunkCount, rows, versions, previous, table, bytes);
  }

  private void add(Chunk chunk) {
    if (chunkCount == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunkCount * 2);
    }
    chunks[chunkCount++] = chunk;
    bytes += chunk.bytes();
  }

  /**
   * Makes a row of the newest chunk the last one of its id. The chain is written before the table's
   * entry, whose release store shows both to readers.
   */
  private void index(Chunk chunk, int row, long hash) {
    int ordinal = chunk.start() + row;
    long cursor = cursorOf(chunk.ids(), row, hash);
    if (cursor != IdTable.END) {
      previous.append(table.row(cursor));
      table.replace(cursor, hash, ordinal);
      return;
    }
    previous.append(Segment.NOT_FOUND);
    if (table.isFull()) {
      retired.add(table);
      table = table.grown(allocator);
    }
    table.add(hash, ordinal);
  }

  /** The table's entry of an id, or END. */
  private long cursorOf(IdColumn ids, int row, long hash) {
    long cursor = table.start(hash);
    while (cursor != IdTable.END) {
      int found = table.row(cursor);
      Chunk holder = chunkOf(found);
      if (ids.same(row, holder.ids(), found - holder.start())) {
        break;
      }
      cursor = table.next(hash, cursor);
    }
    return cursor;
  }

  private Chunk chunkOf(int row) {
    return Chunk.holding(chunks, chunkCount, row);
  }

  /** Prefixes hold the chunk array itself, so a join writes a new one. */
  private void joinSmall() {
    while (chunkCount >= JOINED) {
      int from = chunkCount - JOINED;
      int tier = tier(chunks[chunkCount - 1]);
      if (tier < 0) {
        return;
      }
      for (int i = from; i < chunkCount; i++) {
        int other = tier(chunks[i]);
        if (other < 0 || other > tier) {
          return;
        }
      }
      List<Chunk> small = List.of(Arrays.copyOfRange(chunks, from, chunkCount));
      Chunk joined = Chunk.join(small, allocator);
      retired.addAll(small);
      chunks = Arrays.copyOf(chunks, chunks.length);
      Arrays.fill(chunks, from, chunkCount, null);
      chunks[from] = joined;
      chunkCount = from + 1;
      bytes += joined.bytes() - small.stream().mapToLong(Chunk::bytes).sum();
    }
  }

  /** Class of a chunk's size, each eight times the one before; -1 for a large one. */
  private static int tier(Chunk chunk) {
    if (chunk.bytes() >= LARGE_BYTES) {
      return -1;
    }
    int tier = 0;
    for (long limit = SMALLEST_TIER_BYTES; chunk.bytes() >= limit; limit *= JOINED) {
      tier++;
    }
    return tier;
  }
}
