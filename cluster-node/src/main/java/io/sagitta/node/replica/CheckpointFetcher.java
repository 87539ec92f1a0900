// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.CheckpointReceiver;
import io.sagitta.shard.store.DiskRoom;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the files of a checkpoint here before Raft announces it (design: prefetch, then announce).
 * Only files that are missing or bad travel; each is verified and fsynced by the shard before the
 * next. The same for a replica whose own files are damaged, when a peer sends it a checkpoint to be
 * repaired with. A file whose stream breaks goes on where it stopped; a fetch that fails is asked
 * for again by the leader and finds the files it has already.
 */
public final class CheckpointFetcher {
  private static final Logger log = LoggerFactory.getLogger(CheckpointFetcher.class);

  /** Fetches at a time: more would only share the same disk and network. */
  private static final int FETCHES_MAX = 2;

  /** Times one file's stream may break before the whole fetch is given up. */
  private static final int RESUMES_MAX = 5;

  /** Opens a file at the source, from an offset on. */
  @FunctionalInterface
  public interface Source {
    InputStream open(ShardId shard, String file, long offset) throws IOException;
  }

  private final Replicas replicas;
  private final DiskRoom room;
  private final Executor executor;
  private final RateLimit rate;
  private final Semaphore slots = new Semaphore(FETCHES_MAX);
  private final Map<ShardId, CompletableFuture<Void>> running = new ConcurrentHashMap<>();

  /**
   * The fetcher of a node.
   *
   * @param room asked before anything is fetched
   * @param executor runs fetches, which block: one virtual thread each
   */
  public CheckpointFetcher(Replicas replicas, DiskRoom room, Executor executor, RateLimit rate) {
    this.replicas = replicas;
    this.room = room;
    this.executor = executor;
    this.rate = rate;
  }

  /** Completes when every file the manifest names is here, verified and fsynced. */
  public CompletableFuture<Void> fetch(ShardId shard, byte[] manifest, Source source) {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<Void> other = running.putIfAbsent(shard, mine);
    if (other != null) {
      // Whatever it fetches is likely the same; then there is little left to do.
      return other
          .handle((done, failure) -> null)
          .thenCompose(ended -> fetch(shard, manifest, source));
    }
    executor.execute(
        () -> {
          try {
            slots.acquire();
            try {
              fetchAll(shard, manifest, source);
            } finally {
              slots.release();
            }
            finish(shard, mine, null);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            finish(shard, mine, SagittaException.unavailable("the node is stopping", 1_000));
          } catch (IOException | RuntimeException e) {
            log.warn("Fetching a checkpoint of shard {} failed: {}", shard, e.toString());
            finish(shard, mine, e);
          }
        });
    return mine;
  }

  private void finish(ShardId shard, CompletableFuture<Void> mine, Throwable failure) {
    running.remove(shard);
    if (failure == null) {
      mine.complete(null);
    } else {
      mine.completeExceptionally(failure);
    }
  }

  private void fetchAll(ShardId id, byte[] manifest, Source source) throws IOException {
    CheckpointReceiver shard =
        replicas
            .receiver(id)
            .orElseThrow(
                () -> new SagittaException(ErrorCode.NOT_FOUND, "shard " + id + " is not here"));
    List<CheckpointFile> missing = shard.missingFiles(manifest);
    long wanted = missing.stream().mapToLong(CheckpointFile::length).sum();
    if (!room.forCheckpoint(wanted)) {
      throw SagittaException.unavailable(
          "no room on the disk for the " + wanted + " bytes of a checkpoint", 5_000);
    }
    long bytes = 0;
    long began = System.nanoTime();
    for (CheckpointFile file : missing) {
      long have = shard.importedBytes(file);
      try (InputStream stream = new Resuming(id, file, source, have)) {
        shard.importFile(file, stream, have);
      }
      bytes += file.length() - have;
    }
    if (!missing.isEmpty()) {
      log.info(
          "Fetched {} files, {} bytes, of shard {} in {} ms",
          missing.size(),
          bytes,
          id,
          (System.nanoTime() - began) / 1_000_000);
    }
  }

  /** A file's bytes from a source whose streams may break. */
  private final class Resuming extends InputStream {
    private final ShardId shard;
    private final CheckpointFile file;
    private final Source source;
    private InputStream stream;
    private long offset;
    private int resumes;

    Resuming(ShardId shard, CheckpointFile file, Source source, long offset) {
      this.offset = offset;
      this.shard = shard;
      this.file = file;
      this.source = source;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int at, int length) throws IOException {
      if (offset == file.length()) {
        return -1;
      }
      int wanted = (int) Math.min(length, file.length() - offset);
      while (true) {
        try {
          if (stream == null) {
            stream = source.open(shard, file.name(), offset);
          }
          int read = stream.read(to, at, wanted);
          if (read < 0) {
            throw new EOFException(
                file.name() + " ended at " + offset + " of " + file.length() + " bytes");
          }
          offset += read;
          rate.take(read);
          return read;
        } catch (IOException | RuntimeException e) {
          closeQuietly();
          if (++resumes > RESUMES_MAX) {
            throw e;
          }
          log.debug("Resuming {} at {}", file.name(), offset, e);
        }
      }
    }

    private void closeQuietly() {
      try (InputStream closing = stream) {
        stream = null;
      } catch (IOException e) {
        log.debug("Closing a broken stream", e);
      }
    }

    @Override
    public void close() throws IOException {
      if (stream != null) {
        stream.close();
      }
    }
  }
}
