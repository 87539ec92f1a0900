// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import io.sagitta.model.CollectionSchema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * The rows of a shard as their one writer holds them: sealed segments, oldest first, and the one
 * that grows. Changes are seen by readers when {@link #publish} has been called, all at once.
 *
 * <p>One thread at a time: apply, or the background task that swaps a flushed segment in; the
 * shard's lock sees to it.
 */
public final class Segments {
  private final BufferAllocator rowsAllocator;
  private final BufferAllocator livesAllocator;
  private final Leases<SegmentSet> published;
  private final List<Leases.Closing> retired = new ArrayList<>();
  private List<Segment> sealed = List.of();
  private GrowingSegment growing;
  private CollectionSchema schema;
  private long nextNumber;
  private long rows;

  /**
   * No rows.
   *
   * @param rowsAllocator holds rows that are not in files
   * @param livesAllocator holds lives
   */
  public Segments(BufferAllocator rowsAllocator, BufferAllocator livesAllocator) {
    this.rowsAllocator = rowsAllocator;
    this.livesAllocator = livesAllocator;
    this.published = new Leases<>(new SegmentSet(null, List.of(), 0, -1, 0));
  }

  /** The readers' side. */
  public Leases<SegmentSet> published() {
    return published;
  }

  public List<Segment> sealed() {
    return sealed;
  }

  public GrowingSegment growing() {
    return growing;
  }

  /** Live rows, also those not yet published. */
  public long rows() {
    return rows;
  }

  /** Number the next growing segment will have. */
  public long nextNumber() {
    return nextNumber;
  }

  /** Starts with a schema; rows are taken from here on. */
  public void start(CollectionSchema first, long number) {
    schema = first;
    nextNumber = number;
    growing = nextGrowing();
  }

  /** Puts back a sealed segment of a checkpoint, older ones first. */
  public void restore(Segment segment) {
    List<Segment> more = new ArrayList<>(sealed);
    more.add(segment);
    sealed = List.copyOf(more);
    rows += segment.rows() - segment.lives().dead();
  }

  /** Counts the rows of a growing segment that was filled by recovery. */
  public void restoreGrowing() {
    rows += growing.rows() - growing.lives().dead();
  }

  /** From here on rows have another schema; the growing segment must be empty. */
  public void changeSchema(CollectionSchema next) {
    if (growing.rows() > 0) {
      throw new IllegalStateException("a growing segment has one schema; freeze it first");
    }
    schema = next;
    retireGrowing();
    growing = nextGrowing();
  }

  /** Where the live row with an id is, or NO_REF. Also sees what is not yet published. */
  public long find(IdColumn ids, int row, long hash) {
    int found = growing.find(ids, row, hash);
    if (found != Segment.NOT_FOUND) {
      return liveRef(sealed.size(), growing.lives(), found);
    }
    for (int i = sealed.size() - 1; i >= 0; i--) {
      Segment segment = sealed.get(i);
      found = segment.find(ids, row, hash);
      if (found != Segment.NOT_FOUND) {
        return liveRef(i, segment.lives(), found);
      }
    }
    return SegmentSet.NO_REF;
  }

  private static long liveRef(int segment, Lives lives, int row) {
    return lives.isAlive(row, Long.MAX_VALUE - 1)
        ? SegmentSet.ref(segment, row)
        : SegmentSet.NO_REF;
  }

  /** Version of a row, also one not yet published. */
  public long version(long ref) {
    int segment = SegmentSet.segment(ref);
    int row = SegmentSet.row(ref);
    return segment == sealed.size() ? growing.version(row) : sealed.get(segment).version(row);
  }

  /** The set as the writer sees it, for reading rows back while applying. */
  public SegmentSet writersView(long term, long index) {
    List<Segment> all = new ArrayList<>(sealed);
    if (growing != null) {
      all.add(growing.prefix());
    }
    return new SegmentSet(schema, all, term, index, rows);
  }

  /** Ends the life of a live row at a log index. */
  public void die(long ref, long index) {
    int segment = SegmentSet.segment(ref);
    Lives lives = segment == sealed.size() ? growing.lives() : sealed.get(segment).lives();
    lives.die(SegmentSet.row(ref), index);
    rows--;
  }

  /** Appends rows of one version; see {@link GrowingSegment#append}. */
  public void append(VectorSchemaRoot root, long[] hashes, long version) {
    int count = root.getRowCount();
    growing.append(root, hashes, version);
    rows += count;
  }

  /**
   * Seals the growing segment and starts the next one. Sealed segments without a live row are
   * dropped: every replica does so at the same entry.
   *
   * @return the frozen segment; null where nothing had grown
   */
  public FrozenSegment freeze() {
    dropDead();
    if (growing.rows() == 0) {
      return null;
    }
    FrozenSegment frozen = growing.freeze();
    retired.addAll(growing.takeRetired());
    List<Segment> more = new ArrayList<>(sealed);
    more.add(frozen);
    sealed = List.copyOf(more);
    growing = nextGrowing();
    return frozen;
  }

  /**
   * Puts a flushed segment in the place of the frozen one it was made from.
   *
   * @return whether that was still here
   */
  public boolean swap(FlushedSegment flushed) {
    List<Segment> next = new ArrayList<>(sealed);
    for (int i = 0; i < next.size(); i++) {
      if (next.get(i) instanceof FrozenSegment frozen && frozen.number() == flushed.number()) {
        next.set(i, flushed);
        sealed = List.copyOf(next);
        retired.addAll(frozen.memory());
        return true;
      }
    }
    return false;
  }

  /** Shows readers everything up to a log index. */
  public void publish(long term, long index) {
    if (growing != null) {
      retired.addAll(growing.takeRetired());
    }
    published.publish(writersView(term, index), retired);
    retired.clear();
  }

  /**
   * Lets go of all rows; views keep theirs, and readers see them until the next {@link #publish}.
   * Ready for {@link #start} again.
   */
  public void reset() {
    sealed.forEach(this::retire);
    sealed = List.of();
    if (growing != null) {
      retireGrowing();
      growing = null;
    }
    schema = null;
    rows = 0;
  }

  /**
   * As {@link #reset}, for good.
   *
   * @param last closed after everything else, when the last view is
   */
  public void close(List<? extends Leases.Closing> last) {
    reset();
    retired.addAll(last);
    SegmentSet now = published.current();
    published.publish(new SegmentSet(null, List.of(), now.term(), now.index(), 0), retired);
    published.end();
  }

  private GrowingSegment nextGrowing() {
    return new GrowingSegment(nextNumber++, schema, rowsAllocator, livesAllocator);
  }

  private void dropDead() {
    List<Segment> kept = new ArrayList<>();
    for (Segment segment : sealed) {
      if (segment.lives().dead() < segment.rows()) {
        kept.add(segment);
      } else {
        retire(segment);
      }
    }
    sealed = List.copyOf(kept);
  }

  private void retire(Segment segment) {
    switch (segment) {
      case FrozenSegment frozen -> retired.addAll(frozen.memory());
      case FlushedSegment flushed -> retired.add(flushed);
      case GrowingPrefix prefix ->
          throw new IllegalStateException("a prefix owns nothing: " + prefix.number());
    }
    retired.add(segment.lives());
  }

  private void retireGrowing() {
    FrozenSegment last = growing.freeze();
    retired.addAll(growing.takeRetired());
    retired.addAll(last.memory());
    retired.add(last.lives());
  }
}
