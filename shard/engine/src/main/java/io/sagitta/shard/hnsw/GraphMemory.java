// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.CodeLayout;
import io.sagitta.shard.distance.CodeRows;
import io.sagitta.shard.distance.NativeMemory;
import io.sagitta.shard.distance.SubspaceQuantizer;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of one index at one capacity. A larger one takes its place when the index grows;
 * searches that began before finish on the old one.
 *
 * <p>Links are read plainly while others write them. What makes that sound:
 *
 * <ol>
 *   <li>A row's code and its own links are written before the first link to it, with a release
 *       fence between; a reader gets to them through that link.
 *   <li>An int is written at once, and holds an ordinal of this memory or -1.
 *   <li>A list that is rewritten may show links of before and after, or some twice, or end early. A
 *       search that meets this passes a few rows less.
 * </ol>
 */
final class GraphMemory extends Counted {
  private static final int LEVEL_BITS = 4;
  static final int LEVEL_MAX = (1 << LEVEL_BITS) - 1;
  private static final int ABSENT = -1;

  /** Room for upper blocks above the number expected, for luck and for small indexes. */
  private static final double UPPER_SLACK = 1.25;

  private static final int UPPER_MIN = 64;

  final IndexParameters parameters;
  final int capacity;
  final CodeRows rows;

  /** Ints of a row's list on level 0, and on each upper level. */
  final int width;

  final int upperWidth;

  /** Null where there are none; then and only then links may still change. */
  final NeighbourCodes neighbours;

  private final CodeLayout layout;
  private final Region high;
  private final Region low;
  private final Region links;
  private final Region levels;
  private final Region upper;
  private final int upperCapacity;

  /** Of borrowed regions. */
  private final Owner owner;

  private final long linksAt;
  private final long levelsAt;
  private final long upperAt;

  private final AtomicInteger upperUsed = new AtomicInteger();

  /** Where searches start: level in the upper half, ordinal in the lower; -1 for nowhere. */
  private final AtomicLong entry = new AtomicLong(-1);

  /** Above every ordinal whose insertion has begun. */
  private final AtomicInteger linkedEnd = new AtomicInteger();

  /** Whoever lent the regions; memories that share them share it. */
  private static final class Owner extends Counted {
    private final Runnable onFree;

    Owner(Runnable onFree) {
      this.onFree = onFree;
    }

    @Override
    void free() {
      onFree.run();
    }
  }

  private GraphMemory(
      IndexParameters parameters,
      int capacity,
      int upperCapacity,
      Region high,
      Region low,
      Region links,
      Region levels,
      Region upper,
      NeighbourCodes neighbours,
      Owner owner) {
    this.parameters = parameters;
    this.neighbours = neighbours;
    this.capacity = capacity;
    this.upperCapacity = upperCapacity;
    this.layout = layout(parameters);
    this.width = 2 * parameters.links();
    this.upperWidth = parameters.links();
    this.high = high;
    this.low = low;
    this.links = links;
    this.levels = levels;
    this.upper = upper;
    this.owner = owner;
    this.rows = new CodeRows(layout, capacity, high.memory(), low == null ? null : low.memory());
    this.linksAt = links.address();
    this.levelsAt = levels.address();
    this.upperAt = upper.address();
  }

  static CodeLayout layout(IndexParameters parameters) {
    return new CodeLayout(parameters.dimension(), parameters.bits());
  }

  /** Empty, for rows {@code [0, capacity)}. */
  static GraphMemory allocate(IndexParameters parameters, int capacity) {
    long stride = layout(parameters).stride();
    int upperCapacity = upperCapacity(parameters, capacity);
    GraphMemory memory =
        new GraphMemory(
            parameters,
            capacity,
            upperCapacity,
            Region.allocate(capacity * stride),
            parameters.bits() ? null : Region.allocate(capacity * stride),
            Region.allocate(capacity * linkBytes(parameters)),
            Region.allocate((long) capacity * Integer.BYTES),
            Region.allocate(upperCapacity * upperBytes(parameters)),
            null,
            new Owner(() -> {}));
    memory.links.memory().fill((byte) -1);
    memory.upper.memory().fill((byte) -1);
    return memory;
  }

  private static int upperCapacity(IndexParameters parameters, int capacity) {
    return (int) (UPPER_SLACK * capacity / (parameters.links() - 1)) + UPPER_MIN;
  }

  /** Over regions that belong to somebody else, who learns when they are no longer read. */
  static GraphMemory of(IndexImage image, Runnable onFree) {
    IndexParameters parameters = image.parameters();
    long stride = layout(parameters).stride();
    int size = image.size();
    check("codes", image.high(), size * stride);
    check("links", image.links(), size * linkBytes(parameters));
    check("levels", image.levels(), (long) size * Integer.BYTES);
    check("upper links", image.upper(), image.upperBlocks() * upperBytes(parameters));
    if (image.entry() >= size || image.entryLevel() > LEVEL_MAX) {
      throw new IllegalArgumentException(
          "entry " + image.entry() + " on level " + image.entryLevel() + " of " + size + " rows");
    }
    GraphMemory memory =
        new GraphMemory(
            parameters,
            size,
            image.upperBlocks(),
            Region.borrow(image.high()),
            image.low() == null ? null : Region.borrow(image.low()),
            Region.borrow(image.links()),
            Region.borrow(image.levels()),
            Region.borrow(image.upper()),
            neighbours(image),
            new Owner(onFree));
    memory.upperUsed.set(image.upperBlocks());
    memory.linkedEnd.set(size);
    if (image.entry() >= 0) {
      memory.entry.set(packEntry(image.entry(), image.entryLevel()));
    }
    return memory;
  }

  private static NeighbourCodes neighbours(IndexImage image) {
    IndexImage.Neighbours neighbours = image.neighbours();
    if (neighbours == null) {
      return null;
    }
    check(
        "neighbour codes",
        neighbours.codes(),
        NeighbourCodes.bytes(image.parameters(), image.size()));
    return new NeighbourCodes(
        new SubspaceQuantizer(image.parameters().dimension(), neighbours.codebook()),
        neighbours.deviation(),
        Region.borrow(neighbours.codes()));
  }

  private static void check(String what, MemorySegment segment, long bytes) {
    if (segment.byteSize() < bytes || !segment.isNative()) {
      throw new IllegalArgumentException(
          what + ": expected " + bytes + " native bytes, got " + segment.byteSize());
    }
  }

  private static long linkBytes(IndexParameters parameters) {
    return 2L * parameters.links() * Integer.BYTES;
  }

  private static long upperBytes(IndexParameters parameters) {
    return (long) parameters.links() * Integer.BYTES;
  }

  /** A copy with more room. */
  GraphMemory grown(int newCapacity) {
    GraphMemory larger = allocate(parameters, newCapacity);
    copy(high, larger.high);
    if (low != null) {
      copy(low, larger.low);
    }
    copy(links, larger.links);
    copy(levels, larger.levels);
    copy(upper, larger.upper);
    takeState(larger);
    return larger;
  }

  private static void copy(Region from, Region to) {
    to.memory().copyFrom(from.memory());
  }

  /** A copy with room for the rows it has and no more. */
  GraphMemory trimmed(int size) {
    long stride = layout.stride();
    int blocks = Math.min(upperUsed.get(), upperCapacity);
    if (neighbours != null && !neighbours.tryRetain()) {
      throw new IllegalStateException("closed");
    }
    GraphMemory smaller =
        new GraphMemory(
            parameters,
            size,
            blocks,
            copy(high, size * stride),
            low == null ? null : copy(low, size * stride),
            copy(links, size * linkBytes(parameters)),
            copy(levels, (long) size * Integer.BYTES),
            copy(upper, blocks * upperBytes(parameters)),
            neighbours,
            new Owner(() -> {}));
    takeState(smaller);
    return smaller;
  }

  private static Region copy(Region from, long bytes) {
    Region copy = Region.allocate(bytes);
    copy.memory().copyFrom(from.memory().asSlice(0, bytes));
    return copy;
  }

  /** Bytes of what {@link #trimmed} makes, but for rounding. */
  long trimmedBytes(int size) {
    long planes = low == null ? 1 : 2;
    return planes * size * layout.stride()
        + size * (linkBytes(parameters) + Integer.BYTES)
        + Math.min(upperUsed.get(), upperCapacity) * upperBytes(parameters)
        + (neighbours == null ? 0 : neighbours.bytes());
  }

  /** The same memory without the low nibbles. */
  GraphMemory withoutLow() {
    return sharing(null, neighbours);
  }

  /** The same memory with other neighbour codes, or with null without any. */
  GraphMemory withNeighbours(NeighbourCodes codes) {
    return sharing(low, codes);
  }

  private GraphMemory sharing(Region newLow, NeighbourCodes codes) {
    for (Counted part : new Counted[] {high, newLow, links, levels, upper, codes, owner}) {
      if (part != null && !part.tryRetain()) {
        throw new IllegalStateException("closed");
      }
    }
    GraphMemory next =
        new GraphMemory(
            parameters, capacity, upperCapacity, high, newLow, links, levels, upper, codes, owner);
    takeState(next);
    return next;
  }

  private void takeState(GraphMemory next) {
    next.upperUsed.set(upperUsed.get());
    next.entry.set(entry.get());
    next.linkedEnd.set(linkedEnd.get());
  }

  IndexImage image(float[] centre, int size) {
    long stride = layout.stride();
    int blocks = Math.min(upperUsed.get(), upperCapacity);
    return new IndexImage(
        parameters,
        centre,
        size,
        entryOrdinal(entry()),
        Math.max(0, entryLevel(entry())),
        blocks,
        high.memory().asSlice(0, size * stride),
        low == null ? null : low.memory().asSlice(0, size * stride),
        links.memory().asSlice(0, size * linkBytes(parameters)),
        levels.memory().asSlice(0, (long) size * Integer.BYTES),
        upper.memory().asSlice(0, blocks * upperBytes(parameters)),
        neighbours == null
            ? null
            : new IndexImage.Neighbours(
                neighbours.memory().asSlice(0, size * neighbours.stride()),
                neighbours.quantizer.codebook(),
                neighbours.deviation));
  }

  /** Bytes of codes, of a memory at its capacity. */
  long codeBytes() {
    return high.bytes()
        + (low == null ? 0 : low.bytes())
        + (neighbours == null ? 0 : neighbours.bytes());
  }

  /** Bytes of links and levels. */
  long linkBytes() {
    return links.bytes() + levels.bytes() + upper.bytes();
  }

  /** What {@link #codeBytes} of a memory of this capacity will be, but for rounding. */
  static long codeBytes(IndexParameters parameters, int capacity) {
    return (parameters.bits() ? 1L : 2L) * capacity * layout(parameters).stride();
  }

  /** What {@link #linkBytes()} of a memory of this capacity will be, but for rounding. */
  static long linkBytes(IndexParameters parameters, int capacity) {
    return capacity * (linkBytes(parameters) + Integer.BYTES)
        + upperCapacity(parameters, capacity) * upperBytes(parameters);
  }

  @Override
  void free() {
    high.release();
    if (low != null) {
      low.release();
    }
    links.release();
    levels.release();
    upper.release();
    if (neighbours != null) {
      neighbours.release();
    }
    owner.release();
  }

  // Levels and lists

  /** Draws a row's level from a hash of its id, so that every replica draws the same. */
  void drawLevel(int ordinal, long idHash) {
    double chance = ((mix(idHash) >>> 11) + 0.5) * 0x1p-53;
    int level = (int) Math.min(LEVEL_MAX, -Math.log(chance) / Math.log(parameters.links()));
    int value = 0;
    if (level > 0) {
      int block = upperUsed.getAndAdd(level);
      if (block + level <= upperCapacity) {
        value = block << LEVEL_BITS | level;
      } else {
        // Only ids made to collide get here; on level 0 alone a row is found all the same.
        upperUsed.getAndAdd(-level);
      }
    }
    NativeMemory.putInt(levelsAt + 4L * ordinal, value);
  }

  /** Ends of MurmurHash3: spreads whatever the caller's hash leaves unspread. */
  private static long mix(long hash) {
    long mixed = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ mixed >>> 33;
  }

  void markAbsent(int ordinal) {
    NativeMemory.putInt(levelsAt + 4L * ordinal, ABSENT);
  }

  boolean isAbsent(int ordinal) {
    return NativeMemory.intAt(levelsAt + 4L * ordinal) == ABSENT;
  }

  int level(int ordinal) {
    return NativeMemory.intAt(levelsAt + 4L * ordinal) & LEVEL_MAX;
  }

  int width(int level) {
    return level == 0 ? width : upperWidth;
  }

  /** Address of a row's list on a level that it has. */
  long list(int ordinal, int level) {
    assert ordinal >= 0 && ordinal < capacity : "row " + ordinal + " of " + capacity;
    assert level <= level(ordinal) : "level " + level + " of row " + ordinal;
    if (level == 0) {
      return linksAt + (long) ordinal * width * Integer.BYTES;
    }
    int block = (NativeMemory.intAt(levelsAt + 4L * ordinal) >>> LEVEL_BITS) + level - 1;
    return upperAt + (long) block * upperWidth * Integer.BYTES;
  }

  /** Links in a list; one that others change meanwhile may then be shorter. */
  static int length(long list, int width) {
    int length = 0;
    while (length < width && NativeMemory.intAt(list + 4L * length) >= 0) {
      length++;
    }
    return length;
  }

  /** Sets a link, or ends the list with -1, once what it leads to is complete. */
  static void putLink(long list, int slot, int ordinal) {
    assert ordinal >= -1 : "link to row " + ordinal;
    VarHandle.releaseFence();
    NativeMemory.putInt(list + 4L * slot, ordinal);
  }

  // Entry

  private static long packEntry(int ordinal, int level) {
    return (long) level << 32 | ordinal;
  }

  /** Where searches start, for {@link #entryOrdinal} and {@link #entryLevel}. */
  long entry() {
    return entry.get();
  }

  static int entryOrdinal(long entry) {
    return (int) entry;
  }

  static int entryLevel(long entry) {
    return (int) (entry >> 32);
  }

  /** Makes a row the entry unless there is one as high. */
  void offerEntry(int ordinal, int level) {
    long seen = entry.get();
    while (entryLevel(seen) < level && !entry.compareAndSet(seen, packEntry(ordinal, level))) {
      seen = entry.get();
    }
  }

  /** Whether a row became the first entry. */
  boolean offerFirstEntry(int ordinal, int level) {
    return entry.compareAndSet(-1, packEntry(ordinal, level));
  }

  void beginInsert(int ordinal) {
    if (neighbours != null) {
      throw new IllegalStateException("the graph is complete");
    }
    if (linkedEnd.get() <= ordinal) {
      linkedEnd.accumulateAndGet(ordinal + 1, Math::max);
    }
  }

  /** Above every ordinal that a search may meet. */
  int linkedEnd() {
    return linkedEnd.get();
  }
}
