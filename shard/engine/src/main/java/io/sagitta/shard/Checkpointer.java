// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.Reason;
import io.sagitta.model.ShardId;
import io.sagitta.shard.format.CheckpointDirectory;
import io.sagitta.shard.format.LivesFile;
import io.sagitta.shard.format.Manifest;
import io.sagitta.shard.format.SegmentWriter;
import io.sagitta.shard.format.SessionsFile;
import io.sagitta.shard.segment.FlushedSegment;
import io.sagitta.shard.segment.FrozenSegment;
import io.sagitta.shard.segment.GrowingPrefix;
import io.sagitta.shard.segment.Leases;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentFiles;
import io.sagitta.shard.segment.SegmentSet;
import io.sagitta.shard.store.DiskRoom;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes checkpoints in the background, one at a time, each of the state at exactly one log
 * position: first the files of segments that have none yet, then who lives, the sessions, and at
 * last the manifest. A request that waits is dropped for a later one, which holds all it would have
 * held.
 *
 * <p>A checkpoint that fails, or for which there is no room, stays requested; {@link #retryLocked}
 * tries again. Nothing is lost meanwhile: the log still holds it all.
 */
final class Checkpointer {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);

  /** What a row takes in files beside its columns: its version and its place in the id index. */
  private static final int ROW_FILE_BYTES = 32;

  private final CheckpointDirectory directory;
  private final SegmentMapper mapper;
  private final Executor background;
  private final DiskRoom room;
  private final BufferAllocator allocator;
  private final Consumer<FlushedSegment> flushed;

  // The shard's lock guards what follows.
  private final ReentrantLock lock;
  private final Condition changed;
  private Request waiting;
  private boolean scheduled;
  private boolean running;
  private boolean stopped;
  private Optional<String> failure = Optional.empty();
  private Optional<ShardCheckpoint> newest;

  /** Files of segments written already; only the background task uses it, one at a time. */
  private final Map<Long, List<CheckpointFile>> written = new HashMap<>();

  /**
   * A checkpointer.
   *
   * @param room asked before anything is written
   * @param flushed takes a segment once its files are durable and mapped
   * @param lock the shard's lock
   * @param changed signalled after each change of a checkpoint's state
   */
  Checkpointer(
      CheckpointDirectory directory,
      SegmentMapper mapper,
      Executor background,
      DiskRoom room,
      BufferAllocator allocator,
      Consumer<FlushedSegment> flushed,
      ReentrantLock lock,
      Condition changed) {
    this.directory = directory;
    this.mapper = mapper;
    this.background = background;
    this.room = room;
    this.allocator = allocator;
    this.flushed = flushed;
    this.lock = lock;
    this.changed = changed;
    this.newest = directory.current().map(Checkpointer::checkpoint);
  }

  /**
   * A state to be written.
   *
   * @param lease keeps its rows
   * @param state what it is beside rows
   * @param sessions its writers, encoded
   */
  record Request(Leases.Lease<SegmentSet> lease, CheckpointState state, byte[] sessions) {
    ShardId shard() {
      return state.meta().init().shard();
    }
  }

  /** The newest durable checkpoint. */
  Optional<ShardCheckpoint> newestLocked() {
    return newest;
  }

  Optional<String> failureLocked() {
    return failure;
  }

  boolean isBusyLocked() {
    return running || waiting != null;
  }

  /** Takes a request; the one that waits, if any, is dropped. */
  void submitLocked(Request request) {
    if (waiting != null) {
      waiting.lease.close();
    }
    waiting = request;
    scheduleLocked();
  }

  /** Tries a checkpoint that failed once more. */
  void retryLocked() {
    scheduleLocked();
  }

  /** Waits until nothing runs, drops what waits, and takes nothing until {@link #resumeLocked}. */
  void stopLocked() {
    stopped = true;
    while (running) {
      changed.awaitUninterruptibly();
    }
    if (waiting != null) {
      waiting.lease.close();
      waiting = null;
    }
    failure = Optional.empty();
  }

  /** Goes on after {@link #stopLocked}, with whatever checkpoint the directory has now. */
  void resumeLocked() {
    stopped = false;
    written.clear();
    newest = directory.current().map(Checkpointer::checkpoint);
  }

  private void scheduleLocked() {
    if (waiting != null && !running && !scheduled && !stopped) {
      scheduled = true;
      background.execute(this::run);
    }
  }

  private void run() {
    for (Request request = begin(); request != null; request = begin()) {
      try {
        end(request, checkpoint(write(request)), null);
      } catch (IOException e) {
        end(request, null, e);
        return;
      } catch (Throwable e) {
        end(request, null, e);
        throw e;
      }
    }
  }

  private Request begin() {
    lock.lock();
    try {
      scheduled = false;
      if (stopped || running || waiting == null) {
        return null;
      }
      Request request = waiting;
      waiting = null;
      running = true;
      return request;
    } finally {
      lock.unlock();
    }
  }

  private void end(Request request, ShardCheckpoint done, Throwable cause) {
    lock.lock();
    try {
      running = false;
      if (cause == null) {
        newest = Optional.of(done);
        failure = Optional.empty();
      } else {
        if (failure.isEmpty()) { // tried again often; said once
          LOG.warn("shard {}: checkpoint failed, will be tried again", request.shard(), cause);
        }
        failure = Optional.of(Reason.of(cause));
      }
      if (cause != null && waiting == null && !stopped) {
        waiting = request;
      } else {
        request.lease.close();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private Manifest write(Request request) throws IOException {
    SegmentSet set = request.lease.value();
    checkRoom(request, set);
    List<Manifest.SegmentRef> refs = new ArrayList<>();
    List<CheckpointFile> files = new ArrayList<>();
    for (Segment segment : set.segments()) {
      if (segment.rows() > 0) {
        refs.add(write(request, segment, files));
      }
    }
    files.add(SessionsFile.write(mapper.store(), set.index(), request.sessions));
    Manifest manifest =
        directory.publish(
            new Manifest(
                0,
                set.term(),
                set.index(),
                CheckpointState.VERSION,
                request.state.toBytes(),
                refs,
                OptionalLong.of(set.index()),
                files));
    written.keySet().retainAll(set.segments().stream().map(Segment::number).toList());
    return manifest;
  }

  /** About what the files of a segment that has none yet will take. */
  static long fileBytes(Segment segment) {
    return segment.bytes() + (long) segment.rows() * ROW_FILE_BYTES;
  }

  private void checkRoom(Request request, SegmentSet set) throws IOException {
    long bytes = request.sessions.length;
    for (Segment segment : set.segments()) {
      boolean there = segment instanceof FlushedSegment || written.containsKey(segment.number());
      bytes += there ? segment.rows() / Byte.SIZE : fileBytes(segment);
    }
    if (!room.forCheckpoint(bytes)) {
      throw new IOException("no room on the disk for the " + bytes + " bytes of a checkpoint");
    }
  }

  private Manifest.SegmentRef write(Request request, Segment segment, List<CheckpointFile> files)
      throws IOException {
    long index = request.lease.value().index();
    UUID id =
        switch (segment) {
          case FlushedSegment mapped -> {
            files.addAll(mapped.mapped().files());
            yield mapped.mapped().segmentId();
          }
          case FrozenSegment frozen -> {
            files.addAll(flush(request.shard(), frozen));
            yield SegmentFiles.id(request.shard(), frozen.number());
          }
          case GrowingPrefix prefix -> {
            UUID prefixId = SegmentFiles.prefixId(request.shard(), prefix.number(), index);
            files.addAll(
                SegmentWriter.write(
                    SegmentFiles.source(prefixId, prefix), mapper.store(), allocator));
            yield prefixId;
          }
        };
    long[] alive = segment.lives().alive(segment.rows(), index);
    if (Bits.count(alive) == segment.rows()) {
      return new Manifest.SegmentRef(id, segment.rows(), OptionalLong.empty());
    }
    files.add(LivesFile.write(mapper.store(), id, index, alive, segment.rows()));
    return new Manifest.SegmentRef(id, segment.rows(), OptionalLong.of(index));
  }

  /** Writes the files of a frozen segment, unless an earlier attempt has, and hands them over. */
  private List<CheckpointFile> flush(ShardId shard, FrozenSegment frozen) throws IOException {
    List<CheckpointFile> before = written.get(frozen.number());
    if (before != null) {
      return before;
    }
    UUID id = SegmentFiles.id(shard, frozen.number());
    List<CheckpointFile> files =
        SegmentWriter.write(SegmentFiles.source(id, frozen), mapper.store(), allocator);
    flushed.accept(mapper.map(id, frozen.number(), frozen.lives(), frozen.schema()));
    written.put(frozen.number(), files);
    return files;
  }

  private static ShardCheckpoint checkpoint(Manifest manifest) {
    return new ShardCheckpoint(manifest.term(), manifest.logIndex(), manifest.toBytes());
  }
}
