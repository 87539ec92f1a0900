// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.Reason;
import io.sagitta.model.SagittaException;
import io.sagitta.model.SlotRange;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.MemoryBudget.Part;
import io.sagitta.shard.ShardState.SegmentInfo;
import io.sagitta.shard.ShardState.Stage;
import io.sagitta.shard.format.CheckpointDirectory;
import io.sagitta.shard.format.CorruptFileException;
import io.sagitta.shard.format.IndexFiles;
import io.sagitta.shard.format.Manifest;
import io.sagitta.shard.format.MappedVectors;
import io.sagitta.shard.index.Indexer;
import io.sagitta.shard.log.LogEntry;
import io.sagitta.shard.log.LogEntryDecoder;
import io.sagitta.shard.segment.FlushedSegment;
import io.sagitta.shard.segment.FrozenSegment;
import io.sagitta.shard.segment.GrowingPrefix;
import io.sagitta.shard.segment.Leases;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import io.sagitta.shard.segment.Segments;
import io.sagitta.shard.store.FileStore;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;

/**
 * One shard's state machine: apply, view, checkpoint.
 *
 * <p>Threads:
 *
 * <ol>
 *   <li>The apply thread calls {@link #apply}, {@link #requestCheckpoint} and {@link #install}, one
 *       at a time. It alone changes rows, sessions and schema, under {@link #lock}.
 *   <li>A background task writes one checkpoint at a time from a lease on an immutable set of
 *       segments. It takes the lock only to put a flushed segment in the place of the frozen one,
 *       whose rows it has, and to record that it has ended.
 *   <li>Readers take a {@link ShardView}, a lease on the set published last, without any lock.
 *       {@link Leases} tells why they see a whole entry or nothing of it, and when memory is given
 *       back.
 * </ol>
 *
 * <p>An error that apply did not expect stops the shard: the first cause is kept and thrown again,
 * since going on could let this replica drift from the others.
 */
public final class Shard implements CheckpointReceiver, AutoCloseable {
  private static final long FLUSH_RETRY_MS = 1_000;

  private final ShardOptions options;
  private final CheckpointDirectory directory;
  private final BufferAllocator rowsAllocator;
  private final BufferAllocator livesAllocator;
  private final BufferAllocator filesAllocator;
  private final Segments segments;
  private final Recovery recovery;
  private final Checkpointer checkpointer;
  private final Indexer indexer;
  private final long recoveredTerm;
  private final long recoveredIndex;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // The lock guards what follows.
  private Applier applier;
  private IOException failure;
  private boolean closed;
  private long applyWaits;
  private long vectorsOwed;

  private volatile int frozenWaiting;

  private Shard(FileStore store, ShardOptions options, BufferAllocator allocator)
      throws IOException {
    this.options = options;
    this.directory = CheckpointDirectory.open(store);
    if (!directory.damaged().isEmpty()) {
      throw new DamagedCheckpointException(
          store.toString(), directory.current().orElseThrow(), directory.damaged());
    }
    rowsAllocator = child(allocator, "rows", counting(Part.GROWING));
    livesAllocator = child(allocator, "lives", counting(Part.LIVES));
    filesAllocator = child(allocator, "files", AllocationListener.NOOP);
    segments = new Segments(rowsAllocator, livesAllocator);
    indexer =
        new Indexer(
            segments.published(),
            options.indexing(),
            new IndexFiles(store),
            options.memory(),
            options.room(),
            store::toString);
    SegmentMapper mapper = new SegmentMapper(store, filesAllocator, options.memory());
    recovery = new Recovery(mapper, rowsAllocator, livesAllocator);
    checkpointer =
        new Checkpointer(
            directory,
            mapper,
            options.background(),
            options.room(),
            filesAllocator,
            this::swapIn,
            lock,
            changed);
    Optional<Manifest> manifest = directory.current();
    recoveredTerm = manifest.map(Manifest::term).orElse(0L);
    recoveredIndex = manifest.map(Manifest::logIndex).orElse(-1L);
    try {
      applier =
          manifest.isPresent()
              ? recovery.load(manifest.get(), segments)
              : new Applier(segments, rowsAllocator);
      segments.publish(recoveredTerm, recoveredIndex);
      chargeVectorsOwed();
      indexer.wake();
    } catch (CorruptFileException e) {
      segments.close(allocators());
      throw new DamagedCheckpointException(store.toString(), manifest.orElseThrow(), e);
    } catch (Throwable e) {
      segments.close(allocators());
      throw e;
    }
  }

  /** Opens the shard in a directory, which is made unless it is there; see {@link #open}. */
  public static Shard open(Path directory, ShardOptions options, BufferAllocator allocator)
      throws IOException {
    return open(FsStore.open(directory), options, allocator);
  }

  /**
   * Opens the newest valid checkpoint in a directory; where there is none, an empty shard that
   * awaits its Init entry. Files that are torn are moved aside, not deleted.
   *
   * @param allocator parent of the shard's own; it must outlast the last view
   * @throws DamagedCheckpointException when files of the newest checkpoint are damaged: see {@link
   *     DamagedShard}
   */
  public static Shard open(FileStore store, ShardOptions options, BufferAllocator allocator)
      throws IOException {
    return new Shard(store, options, allocator);
  }

  /** Term of the checkpoint that was recovered, 0 for none. */
  public long recoveredTerm() {
    return recoveredTerm;
  }

  /** Log index of the checkpoint that was recovered, -1 for none; replay starts after it. */
  public long recoveredIndex() {
    return recoveredIndex;
  }

  /**
   * Applies a committed entry; apply thread only. A bad write is an outcome, never an exception. An
   * entry at or below the last one applied is one that replay has brought again, and ignored.
   *
   * <p>Waits where more segments than allowed wait for their flush.
   *
   * @param entry one log entry as {@link io.sagitta.shard.log.ShardEntries} encodes it
   * @throws IOException when this replica must stop: an entry of an unknown type or format, a
   *     broken disk, a bug; the first cause is kept and thrown again by every later call
   */
  public WriteOutcome apply(long term, long index, ByteBuffer entry) throws IOException {
    lock.lock();
    try {
      checkOpenLocked();
      if (index <= segments.published().current().index()) {
        return new WriteOutcome.Applied(index, 0, List.of(), true);
      }
      long before = segments.rows();
      WriteOutcome outcome = applyLocked(term, index, entry);
      indexer.arrived((int) Math.max(1, segments.rows() - before));
      if (applier.froze()) {
        indexer.wake();
        submitCheckpointLocked();
        awaitFlushesLocked();
      }
      return outcome;
    } finally {
      lock.unlock();
    }
  }

  private WriteOutcome applyLocked(long term, long index, ByteBuffer entry) throws IOException {
    try {
      LogEntry decoded = LogEntryDecoder.decode(entry);
      WriteOutcome outcome = applier.apply(decoded, index, entry.remaining());
      segments.publish(term, index);
      chargeVectorsOwed();
      return outcome;
    } catch (IOException e) {
      failure = new IOException("log entry " + index + ": " + e.getMessage(), e);
      throw failure;
    } catch (RuntimeException | Error e) {
      failure = new IOException("log entry " + index + " could not be applied: " + Reason.of(e), e);
      throw failure;
    }
  }

  /** Vectors that a flush will read into memory; under the lock, but for the constructor. */
  private void chargeVectorsOwed() {
    long owed = 0;
    if (!closed && applier.meta() != null) {
      long rowBytes = 0;
      for (VectorField field : applier.meta().schema().vectorFields()) {
        rowBytes += field.storage() == VectorStorage.MEMORY ? MappedVectors.rowBytes(field) : 0;
      }
      if (rowBytes > 0) {
        owed = rowBytes * unflushedRows();
      }
    }
    options.memory().add(Part.OWED, owed - vectorsOwed);
    vectorsOwed = owed;
  }

  private long unflushedRows() {
    return segments.growing().rows()
        + segments.sealed().stream()
            .filter(FrozenSegment.class::isInstance)
            .mapToLong(Segment::rows)
            .sum();
  }

  /** Slows apply down where flushes do not keep up; one that failed is tried again now and then. */
  private void awaitFlushesLocked() throws IOException {
    frozenWaiting = frozenLocked();
    if (frozenWaiting > options.frozenWaitingMax()) {
      applyWaits++;
    }
    while (frozenWaiting > options.frozenWaitingMax()) {
      checkOpenLocked();
      checkpointer.retryLocked();
      try {
        changed.await(FLUSH_RETRY_MS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while apply waited for a flush", e);
      }
    }
  }

  private int frozenLocked() {
    return (int) segments.sealed().stream().filter(FrozenSegment.class::isInstance).count();
  }

  /**
   * A view at the last applied index; close it. Any thread. UNAVAILABLE once the shard is closed.
   */
  public ShardView view() {
    try {
      return new ShardView(segments.published().acquire(), indexer);
    } catch (IllegalStateException e) {
      throw new SagittaException(
          io.sagitta.model.ErrorCode.UNAVAILABLE, "the shard has been closed", e);
    }
  }

  /**
   * Whether a write of this many bytes may be proposed now; the replica asks before it logs. False
   * while growing memory is over its limit or too many frozen segments wait for a flush. Any
   * thread.
   */
  public boolean admits(long bytes) {
    if (frozenWaiting > options.frozenWaitingMax()) {
      return false;
    }
    return options.memory().admits(bytes);
  }

  /**
   * Asks for a checkpoint at the present position, written in the background. Apply thread only. It
   * does not freeze: which rows share a segment is decided by the log alone.
   */
  public void requestCheckpoint() {
    lock.lock();
    try {
      long index = segments.published().current().index();
      boolean isNew = checkpointer.newestLocked().map(c -> c.index() < index).orElse(true);
      if (applier.meta() != null && !closed && failure == null && isNew) {
        submitCheckpointLocked();
      } else {
        checkpointer.retryLocked();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * About how many bytes the rows in memory will take on disk when they are flushed. Any thread.
   */
  public long unflushedBytes() {
    try (Leases.Lease<SegmentSet> lease = segments.published().acquire()) {
      return lease.value().segments().stream()
          .filter(segment -> !(segment instanceof FlushedSegment))
          .mapToLong(Checkpointer::fileBytes)
          .sum();
    } catch (IllegalStateException e) {
      return 0; // The shard has been closed.
    }
  }

  /** Takes up what was put off for want of room, a checkpoint or a graph's file. Any thread. */
  public void retryPutOff() {
    lock.lock();
    try {
      if (!closed && checkpointer.failureLocked().isPresent()) {
        checkpointer.retryLocked();
      }
    } finally {
      lock.unlock();
    }
    indexer.wake();
  }

  private void submitCheckpointLocked() {
    Leases.Lease<SegmentSet> lease = segments.published().acquire();
    List<Long> numbers =
        lease.value().segments().stream()
            .filter(segment -> segment.rows() > 0)
            .map(Segment::number)
            .toList();
    CheckpointState state =
        new CheckpointState(
            applier.meta(),
            applier.timeMs(),
            applier.sessions().horizonMs(),
            applier.bytesSinceFreeze(),
            applier.entriesSinceFreeze(),
            numbers,
            segments.growing().number(),
            segments.growing().rows() > 0);
    checkpointer.submitLocked(
        new Checkpointer.Request(lease, state, SessionsCodec.encode(applier.sessions())));
  }

  /** Puts a flushed segment in the place of the frozen one; called by the background task. */
  private void swapIn(FlushedSegment flushed) {
    lock.lock();
    try {
      SegmentSet now = segments.published().current();
      if (closed || !segments.swap(flushed)) {
        flushed.close();
        return;
      }
      segments.publish(now.term(), now.index());
      chargeVectorsOwed();
      frozenWaiting = frozenLocked();
      indexer.wake();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The newest durable checkpoint. Any thread. */
  public Optional<ShardCheckpoint> checkpointed() {
    lock.lock();
    try {
      return checkpointer.newestLocked();
    } finally {
      lock.unlock();
    }
  }

  /** The graphs, for status and tests. Any thread. */
  public Indexer indexer() {
    return indexer;
  }

  @Override
  public List<CheckpointFile> missingFiles(byte[] manifest) throws IOException {
    return directory.missing(Manifest.fromBytes(manifest, "a peer's manifest"));
  }

  @Override
  public long importedBytes(CheckpointFile file) throws IOException {
    return directory.imported(file);
  }

  /** Receives a fetched file whole. */
  public void importFile(CheckpointFile file, InputStream bytes) throws IOException {
    importFile(file, bytes, 0);
  }

  @Override
  public void importFile(CheckpointFile file, InputStream bytes, long offset) throws IOException {
    directory.importFile(file, bytes, offset);
  }

  /** Reads a checkpoint's file from its beginning. */
  public InputStream exportFile(CheckpointFile file) throws IOException {
    return exportFile(file, 0);
  }

  /** Reads a checkpoint's file from an offset; it stays on disk until the stream is closed. */
  public InputStream exportFile(CheckpointFile file, long offset) throws IOException {
    return directory.exportFile(file, offset);
  }

  /**
   * Compares every byte of the newest checkpoint with its checksums; gives the files that are bad.
   * Any thread; whatever is checkpointed meanwhile.
   *
   * @param pace told before each step how many bytes are going to be read; it may wait
   */
  public List<CheckpointFile> verify(IntConsumer pace) throws IOException {
    return directory.verify(pace);
  }

  /** Keeps the files of a checkpoint on disk until closed, whatever is checkpointed meanwhile. */
  public CheckpointDirectory.Pin pin(byte[] manifest) throws IOException {
    return directory.pin(Manifest.fromBytes(manifest, "a checkpoint to pin"));
  }

  /**
   * Replaces the state by an installed checkpoint whose files have all been imported. Durable on
   * return. Apply thread only; views opened before stay valid.
   */
  public void install(byte[] manifest) throws IOException {
    Manifest announced = Manifest.fromBytes(manifest, "an installed manifest");
    lock.lock();
    try {
      checkOpenLocked();
      checkpointer.stopLocked();
      indexer.reset();
      Manifest installed = directory.install(announced);
      segments.reset();
      applier = recovery.load(installed, segments);
      segments.publish(installed.term(), installed.logIndex());
      chargeVectorsOwed();
      frozenWaiting = 0;
      checkpointer.resumeLocked();
      indexer.resume();
    } catch (IOException | RuntimeException e) {
      failure = new IOException("install failed: " + e.getMessage(), e);
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  /** The shard at this instant. Any thread. */
  public ShardState state() {
    lock.lock();
    try (Leases.Lease<SegmentSet> lease = segments.published().acquire()) {
      SegmentSet set = lease.value();
      ShardMeta meta = applier.meta();
      List<SegmentInfo> infos = new ArrayList<>();
      set.segments().forEach(segment -> infos.add(info(segment)));
      return new ShardState(
          Optional.ofNullable(meta).map(ShardMeta::init),
          meta == null ? 0 : meta.epoch(),
          meta == null ? SlotRange.ALL : meta.slots(),
          meta == null ? null : meta.schema(),
          set.term(),
          set.index(),
          applier.timeMs(),
          applier.sessions().horizonMs(),
          applier.sessions().writers(),
          set.rows(),
          rowsAllocator.getAllocatedMemory(),
          infos,
          checkpointer.newestLocked().map(ShardCheckpoint::index).orElse(-1L),
          checkpointer.isBusyLocked(),
          checkpointer.failureLocked(),
          applyWaits);
    } finally {
      lock.unlock();
    }
  }

  private static SegmentInfo info(Segment segment) {
    Stage stage =
        switch (segment) {
          case GrowingPrefix ignored -> Stage.GROWING;
          case FrozenSegment ignored -> Stage.FROZEN;
          case FlushedSegment ignored -> Stage.FLUSHED;
        };
    int live = segment.rows() - segment.lives().dead();
    return new SegmentInfo(
        Long.toString(segment.number()), stage, segment.rows(), live, segment.bytes());
  }

  /** {@link ShardView#digest} of a view at the last applied index. */
  public byte[] digest() {
    try (ShardView view = view()) {
      return view.digest();
    }
  }

  /** Ends background work; memory and files go when the last view is closed. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        chargeVectorsOwed();
        changed.signalAll();
        checkpointer.stopLocked();
        indexer.close();
        segments.close(allocators());
      }
    } finally {
      lock.unlock();
    }
  }

  private void checkOpenLocked() throws IOException {
    if (failure != null) {
      throw failure;
    }
    if (closed) {
      throw new IOException("the shard has been closed");
    }
  }

  private AllocationListener counting(Part part) {
    return new AllocationListener() {
      @Override
      public void onAllocation(long size) {
        options.memory().add(part, size);
      }

      @Override
      public void onRelease(long size) {
        options.memory().add(part, -size);
      }
    };
  }

  private static BufferAllocator child(
      BufferAllocator parent, String name, AllocationListener listener) {
    return parent.newChildAllocator(parent.getName() + "/" + name, listener, 0, parent.getLimit());
  }

  private List<Leases.Closing> allocators() {
    return List.of(rowsAllocator::close, livesAllocator::close, filesAllocator::close);
  }
}
