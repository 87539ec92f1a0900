// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.model.VectorField;
import io.sagitta.shard.MemoryBudget;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.format.CorruptFileException;
import io.sagitta.shard.format.IndexFiles;
import io.sagitta.shard.hnsw.GraphConnector;
import io.sagitta.shard.hnsw.GraphSearcher;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.VectorIndex;
import io.sagitta.shard.segment.FlushedSegment;
import io.sagitta.shard.segment.FrozenSegment;
import io.sagitta.shard.segment.GrowingPrefix;
import io.sagitta.shard.segment.Leases;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import io.sagitta.shard.store.DiskRoom;
import java.io.IOException;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds the graphs of a shard in the background, and knows them.
 *
 * <p>One coordinating task at a time looks at the segments that are published, oldest first, and
 * takes one step: it drops the graphs of segments that are gone, opens a graph from its file, grows
 * one by a slice of rows, measures the recall of one, or writes a complete one to a file. It leases
 * the segments for the length of a step, so that memory is given back soon.
 *
 * <p>While rows arrive fast it stands back, as long as the tail that searches must scan stays
 * bearable: what is written in bulk is indexed when the bulk is over.
 */
public final class Indexer {
  private static final Logger LOG = LoggerFactory.getLogger(Indexer.class);

  /** A graph that has grown by half since is measured again when its segment is complete. */
  private static final double MEASURED_ENOUGH = 0.67;

  /** Rows in one check interval from which on writing counts as a bulk. */
  private static final int BULK_ROWS = 512;

  private static final long BULK_CHECK_MS = 50;

  /** Rows that may wait for their graph while a bulk is written. */
  private static final int TAIL_ROWS_MAX = 65_536;

  /** The same of their vectors: long before writers are slowed down for them. */
  private static final long TAIL_BYTES_MAX = 128 << 20;

  private static final int CENTRE_ROWS = 1_024;

  /** In a smaller graph walks are short, and its rows stay in the cache. */
  private static final int NEIGHBOURS_ROWS_MIN = 50_000;

  private static final int SEARCHERS = 16;

  private final Leases<SegmentSet> published;
  private final Optional<IndexingOptions> indexing;
  private final IndexFiles files;
  private final MemoryBudget memory;
  private final DiskRoom room;
  private final Supplier<String> shard;
  private final Map<Key, FieldIndex> indexes = new ConcurrentHashMap<>();
  private final Set<Key> failed = ConcurrentHashMap.newKeySet();
  private final ArrayBlockingQueue<GraphSearcher> searchers = new ArrayBlockingQueue<>(SEARCHERS);
  private final AtomicInteger arrived = new AtomicInteger();
  private final RecallSampler sampler;

  /** The coordinator's. */
  private final IndexSpeed speed = new IndexSpeed();

  // Guarded by this.
  private boolean scheduled;
  private boolean running;
  private boolean again;
  private boolean stopped;

  /** Bytes charged to the budget; the coordinator's. */
  private final Map<Part, Long> charged = new EnumMap<>(Part.class);

  private record Key(long segment, int fieldId) {}

  /**
   * An indexer at rest; {@link #wake} starts it.
   *
   * @param indexing empty: there are never any graphs
   * @param room asked before a graph is written; one that does not fit waits, in memory, for a
   *     later {@link #wake}
   * @param shard for messages
   */
  public Indexer(
      Leases<SegmentSet> published,
      Optional<IndexingOptions> indexing,
      IndexFiles files,
      MemoryBudget memory,
      DiskRoom room,
      Supplier<String> shard) {
    this.published = published;
    this.indexing = indexing;
    this.stopped = indexing.isEmpty();
    this.files = files;
    this.memory = memory;
    this.room = room;
    this.shard = shard;
    this.sampler = new RecallSampler(published, indexing);
  }

  // ---- readers -------------------------------------------------------------------------------

  /** The graph of a field in a segment, where there is one whose recall is known. */
  public Optional<FieldIndex> find(long segment, int fieldId) {
    FieldIndex found = indexes.get(new Key(segment, fieldId));
    return found == null || found.calibration().isEmpty() ? Optional.empty() : Optional.of(found);
  }

  /** All graphs, also those under construction. */
  public List<FieldIndex> all() {
    return List.copyOf(indexes.values());
  }

  /** What has yet to be inserted, and how fast that goes. */
  public IndexLag lag() {
    if (indexing.isEmpty()) {
      return IndexLag.NONE;
    }
    try (Leases.Lease<SegmentSet> lease = published.acquire()) {
      long waiting = 0;
      long bytesPerRow = 0;
      for (Segment segment : lease.value().segments()) {
        bytesPerRow = 0; // that of the newest, whose schema is
        for (VectorField field : segment.schema().vectorFields()) {
          bytesPerRow += field.vectorBytes();
          waiting += waitingBytes(segment, field);
        }
      }
      return new IndexLag(waiting, bytesPerRow, speed.bytesPerSecond());
    } catch (IllegalStateException e) {
      return IndexLag.NONE; // The shard has been closed.
    }
  }

  /** A searcher of one's own; give it back. */
  public GraphSearcher borrowSearcher() {
    GraphSearcher searcher = searchers.poll();
    return searcher == null ? new GraphSearcher() : searcher;
  }

  /** Takes a searcher back, to be used again. */
  public void giveBack(GraphSearcher searcher) {
    searchers.offer(searcher);
  }

  /** Looks into what graph searches miss. */
  public RecallSampler sampler() {
    return sampler;
  }

  /** Whether there is nothing to do: for tests and for those who wait for a load to settle. */
  public boolean isIdle() {
    synchronized (this) {
      if (running || scheduled) {
        return false;
      }
    }
    if (indexing.isEmpty()) {
      return true;
    }
    try (Leases.Lease<SegmentSet> lease = published.acquire()) {
      return next(lease.value()) == null;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  // ---- the shard -----------------------------------------------------------------------------

  /** Says that so many rows have been applied. Cheap; any thread. */
  public void arrived(int rows) {
    if (indexing.isPresent() && arrived.addAndGet(rows) >= options().sliceRows()) {
      wake();
    }
  }

  /** Looks for work, soon. Any thread. */
  public synchronized void wake() {
    if (running) {
      again = true;
    } else {
      schedule(0);
    }
  }

  /** Ends the work at hand, forgets all graphs, and takes up nothing until {@link #resume}. */
  public void reset() {
    stop();
    sampler.stop();
    indexes.values().forEach(index -> index.index().close());
    indexes.clear();
    failed.clear();
    account(List.of());
  }

  /** Goes on after {@link #reset}. */
  public synchronized void resume() {
    stopped = indexing.isEmpty();
    sampler.resume();
    schedule(0);
  }

  /** Ends the work at hand and takes up nothing more; graphs go as their last readers do. */
  public void close() {
    reset();
  }

  private synchronized void stop() {
    stopped = true;
    boolean interrupted = false;
    while (running) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void schedule(long delayMs) {
    if (scheduled || stopped) {
      return;
    }
    scheduled = true;
    try {
      var _ = options().executor().schedule(this::run, delayMs, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      scheduled = false; // The node is going down.
    }
  }

  // ---- the coordinator -----------------------------------------------------------------------

  private void run() {
    synchronized (this) {
      scheduled = false;
      if (stopped || running) {
        return;
      }
      running = true;
      again = false;
    }
    long delayMs = -1;
    try {
      delayMs = work();
    } finally {
      synchronized (this) {
        running = false;
        notifyAll();
        if (delayMs < 0 && again) {
          delayMs = 0;
        }
      }
    }
    if (delayMs >= 0) {
      schedule(delayMs);
    }
  }

  /**
   * Takes one step, so that the shards of a node take turns; returns after how many milliseconds to
   * look again, or -1 for not before there is more to do.
   */
  private long work() {
    int rows = arrived.getAndSet(0);
    try (Leases.Lease<SegmentSet> lease = published.acquire()) {
      SegmentSet set = lease.value();
      dropGone(set);
      Step step = next(set);
      if (step == null) {
        speed.rest();
        return -1;
      }
      if (rows >= BULK_ROWS && isBearable(set)) {
        speed.rest();
        return BULK_CHECK_MS;
      }
      speed.begin(options().nanoTime().getAsLong());
      long inserted = take(step);
      speed.step(inserted, options().nanoTime().getAsLong());
      return 0;
    } catch (IllegalStateException e) {
      return -1; // The shard has been closed.
    }
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  private void checkStopped() {
    if (isStopped()) {
      throw new IndexingStopped();
    }
  }

  private IndexingOptions options() {
    return indexing.orElseThrow();
  }

  private void dropGone(SegmentSet set) {
    Set<Long> here = new HashSet<>();
    set.segments().forEach(segment -> here.add(segment.number()));
    for (Map.Entry<Key, FieldIndex> entry : indexes.entrySet()) {
      if (!here.contains(entry.getKey().segment())) {
        indexes.remove(entry.getKey());
        entry.getValue().index().close();
      }
    }
    failed.removeIf(key -> !here.contains(key.segment()));
    files.retain(
        set.segments().stream()
            .filter(FlushedSegment.class::isInstance)
            .map(segment -> ((FlushedSegment) segment).mapped().segmentId())
            .toList());
    account(set.segments());
  }

  /** Whether the rows that have no graph yet, but should, are few enough to be scanned a while. */
  private boolean isBearable(SegmentSet set) {
    long rows = 0;
    long bytes = 0;
    for (Segment segment : set.segments()) {
      for (VectorField field : segment.schema().vectorFields()) {
        if (segment.rows() >= options().rowsMin(field)) {
          int waiting = waiting(segment, indexes.get(new Key(segment.number(), field.fieldId())));
          rows += waiting;
          bytes += (long) waiting * field.vectorBytes();
        }
      }
    }
    return rows < TAIL_ROWS_MAX && bytes < TAIL_BYTES_MAX;
  }

  private static int waiting(Segment segment, FieldIndex index) {
    return segment.rows() - (index == null ? 0 : index.index().size());
  }

  private long waitingBytes(Segment segment, VectorField field) {
    Key key = new Key(segment.number(), field.fieldId());
    FieldIndex index = indexes.get(key);
    int waiting = waiting(segment, index);
    boolean waits =
        waiting > 0
            && segment.rows() >= options().rowsMin(field)
            && !failed.contains(key)
            && isDue(segment, index);
    return waits ? (long) waiting * field.vectorBytes() : 0;
  }

  /** What to do next; null for nothing. */
  private Step next(SegmentSet set) {
    for (Segment segment : set.segments()) {
      for (VectorField field : segment.schema().vectorFields()) {
        Key key = new Key(segment.number(), field.fieldId());
        FieldIndex index = indexes.get(key);
        if (segment.rows() >= options().rowsMin(field)
            && !failed.contains(key)
            && isDue(segment, index)) {
          return new Step(key, segment, field, set.segments(), set.index());
        }
      }
    }
    return null;
  }

  private boolean isDue(Segment segment, FieldIndex index) {
    if (index == null) {
      return true;
    }
    int waiting = waiting(segment, index);
    return switch (segment) {
      case GrowingPrefix ignored -> waiting >= options().sliceRows() && fits(segment, index);
      case FrozenSegment ignored -> !index.isComplete() && fits(segment, index);
      case FlushedSegment ignored -> {
        if (!index.isComplete()) {
          yield fits(segment, index);
        }
        yield index.isPersisted()
            ? index.isDisplaced() && memory.hasRoom(index.index().bytes())
            : room.forDerived(index.index().bytes());
      }
    };
  }

  /** Whether there is room in memory for the next slice; until then its rows are scanned. */
  private boolean fits(Segment segment, FieldIndex index) {
    return memory.hasRoom(new Slice(segment, index).bytesNeeded(sliceEnd(segment, index)));
  }

  private int sliceEnd(Segment segment, FieldIndex index) {
    return Math.min(segment.rows(), index.index().size() + options().sliceRows());
  }

  /**
   * One segment's field.
   *
   * @param segments all there are
   * @param logIndex whose rows are looked at
   */
  private record Step(
      Key key, Segment segment, VectorField field, List<Segment> segments, long logIndex) {}

  /** Takes a step; returns the bytes of vectors that have got into a graph. */
  private long take(Step step) {
    try {
      FieldIndex index = indexes.get(step.key);
      long inserted = 0;
      if (index == null) {
        index = open(step);
        indexes.put(step.key, index);
      } else if (index.isPersisted()) {
        indexes.put(step.key, open(step)); // there is room for what was displaced
        index.index().close();
      } else if (index.isComplete()) {
        persist(step, index);
      } else {
        int before = index.index().size();
        grow(step, index);
        inserted = (long) (index.index().size() - before) * step.field.vectorBytes();
      }
      account(step.segments);
      return inserted;
    } catch (IndexingStopped e) {
      LOG.debug("{}: a measurement was cut short", shard.get());
    } catch (RuntimeException | Error e) {
      LOG.error(
          "{}: the graph of {} in segment {} is given up, its rows will be scanned",
          shard.get(),
          step.field.name(),
          step.segment.number(),
          e);
      failed.add(step.key);
      FieldIndex lost = indexes.remove(step.key);
      if (lost != null) {
        lost.index().close();
      }
    }
    return 0;
  }

  /** The graph as its file holds it, or an empty one. */
  private FieldIndex open(Step step) {
    if (step.segment instanceof FlushedSegment flushed) {
      try {
        Optional<IndexFiles.Opened> opened =
            files.open(flushed.mapped().segmentId(), step.field, step.segment.rows(), this::claim);
        if (opened.isPresent()) {
          FieldIndex index =
              new FieldIndex(step.segment.number(), step.field, opened.get().index());
          index.calibrated(opened.get().calibration());
          index.completed();
          index.persisted();
          if (opened.get().mapped()) {
            index.displaced();
          }
          return index;
        }
      } catch (CorruptFileException e) {
        LOG.error("{}: a graph is damaged and will be built again", shard.get(), e);
      } catch (IOException e) {
        LOG.warn("{}: a graph cannot be read and will be built again", shard.get(), e);
      }
    }
    VectorIndex empty =
        VectorIndex.empty(
            parameters(step.field),
            Centre.of(
                new SegmentRows(step.segment, step.field.fieldId()),
                step.field,
                step.segment.rows(),
                CENTRE_ROWS));
    return new FieldIndex(step.segment.number(), step.field, empty);
  }

  private void persist(Step step, FieldIndex index) {
    FlushedSegment flushed = (FlushedSegment) step.segment;
    try {
      files.write(
          flushed.mapped().segmentId(),
          step.field,
          index.index().image(),
          index.calibration().orElseThrow());
    } catch (IOException e) {
      // A full disk, say. The graph is in memory; it is built again after a restart.
      LOG.warn("{}: a graph could not be written to its file", shard.get(), e);
    }
    index.persisted();
  }

  /** One slice of rows, or one measurement. */
  private void grow(Step step, FieldIndex index) {
    Segment segment = step.segment;
    boolean growing = segment instanceof GrowingPrefix;
    int size = index.index().size();
    int rows = segment.rows();
    if (isMeasurementDue(index, rows, growing)) {
      index.calibrated(new Measurement(segment, index, step.logIndex, this::isStopped).take());
      return;
    }
    if (size == rows) {
      GraphConnector.connect(index.index());
      NeighbourStep neighbours =
          new NeighbourStep(index, NEIGHBOURS_ROWS_MIN, options(), this::checkStopped);
      long bytes = neighbours.bytesNeeded();
      if (bytes > 0 && memory.hasRoom(bytes) && claim(bytes)) {
        neighbours.take();
      }
      slim(index);
      index.completed();
      return;
    }
    int to = sliceEnd(segment, index);
    if (!growing && index.calibration().isEmpty()) {
      to = Math.min(to, rows - heldOut(rows));
    }
    Slice slice = new Slice(segment, index);
    if (claim(slice.bytesNeeded(to))) { // else another shard was quicker
      slice.insert(to, options().workers(), options().executor());
    }
  }

  /** Gives back what a graph holds for the sake of growing. */
  private void slim(FieldIndex index) {
    VectorIndex graph = index.index();
    if (!index.readsLow()) {
      graph.dropLow();
    }
    if (graph.capacity() > graph.size() && claim(graph.trimmedBytes())) {
      graph.trim();
    }
  }

  private boolean isMeasurementDue(FieldIndex index, int rows, boolean growing) {
    int size = index.index().size();
    int waiting = rows - size;
    int measured = index.calibration().map(c -> c.rows()).orElse(0);
    if (growing) {
      return size >= options().rowsMin(index.field()) && 2L * size >= 3L * measured && waiting > 0;
    }
    return waiting <= heldOut(rows)
        && (index.calibration().isEmpty() || measured < MEASURED_ENOUGH * size);
  }

  /** Of a sealed segment's rows, those that stay out until they have served to measure with. */
  private int heldOut(int rows) {
    return Math.min(options().sliceRows(), rows / 4);
  }

  /** Takes room for a graph that is about to be made; {@link #account} says what came of it. */
  private boolean claim(long bytes) {
    if (!memory.tryAdd(Part.CODES, bytes)) {
      return false;
    }
    charged.merge(Part.CODES, bytes, Long::sum);
    return true;
  }

  /** Charges what there is, and what is to come for the rows of these segments. */
  private void account(List<Segment> segments) {
    long codes = 0;
    long links = 0;
    long displaced = 0;
    for (FieldIndex index : indexes.values()) {
      if (index.isDisplaced()) {
        displaced += index.index().bytes();
      } else {
        codes += index.index().codeBytes();
        links += index.index().linkBytes();
      }
    }
    charge(Part.CODES, codes);
    charge(Part.LINKS, links);
    charge(Part.DISPLACED, displaced);
    charge(Part.OWED, owed(segments));
  }

  private void charge(Part part, long bytes) {
    memory.add(part, bytes - charged.getOrDefault(part, 0L));
    charged.put(part, bytes);
  }

  /** Bytes that the graphs of these segments will take beyond those they have. */
  private long owed(List<Segment> segments) {
    long bytes = 0;
    for (Segment segment : segments) {
      for (VectorField field : segment.schema().vectorFields()) {
        Key key = new Key(segment.number(), field.fieldId());
        FieldIndex index = indexes.get(key);
        boolean grows = index == null || !index.isComplete();
        if (grows && segment.rows() >= options().rowsMin(field) && !failed.contains(key)) {
          long held = index == null ? 0 : index.index().bytes();
          bytes += Math.max(0, VectorIndex.bytes(parameters(field), segment.rows()) - held);
        }
      }
    }
    return bytes;
  }

  private static IndexParameters parameters(VectorField field) {
    return IndexParameters.of(field.type(), field.metric(), field.dimension());
  }
}
