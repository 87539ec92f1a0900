// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.Shard;
import io.sagitta.shard.format.Manifest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Checkpoints on their way to peers. While one is exported its files stay on disk, and they are the
 * only files a peer can read: what is asked for by name is looked up in a manifest, never in a
 * folder.
 */
public final class CheckpointExports {
  /** No record: two exports of one checkpoint are two. */
  private static final class Export {
    private final Shard shard;
    private final Map<String, CheckpointFile> files;

    private Export(Shard shard, Map<String, CheckpointFile> files) {
      this.shard = shard;
      this.files = files;
    }
  }

  private final Replicas replicas;
  private final Map<ShardId, List<Export>> running = new ConcurrentHashMap<>();

  public CheckpointExports(Replicas replicas) {
    this.replicas = replicas;
  }

  /** Keeps a checkpoint's files until closed. */
  public AutoCloseable begin(ShardId id, byte[] manifest) {
    try {
      Shard shard = replicas.require(id).shard();
      var pin = shard.pin(manifest);
      Map<String, CheckpointFile> files = new ConcurrentHashMap<>();
      Manifest.fromBytes(manifest, "a checkpoint to export")
          .files()
          .forEach(file -> files.put(file.name(), file));
      Export export = new Export(shard, files);
      running.merge(id, List.of(export), CheckpointExports::with);
      return () -> {
        running.computeIfPresent(id, (shardId, exports) -> without(exports, export));
        pin.close();
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Export> with(List<Export> exports, List<Export> more) {
    return Stream.concat(exports.stream(), more.stream()).toList();
  }

  /** Null, and so gone from the map, where it was the last. */
  private static List<Export> without(List<Export> exports, Export ended) {
    List<Export> left = exports.stream().filter(e -> !e.equals(ended)).toList();
    return left.isEmpty() ? null : left;
  }

  /** Opens a file of a checkpoint that is being exported. */
  public InputStream open(ShardId id, String file, long offset) throws IOException {
    for (Export export : running.getOrDefault(id, List.of())) {
      Optional<CheckpointFile> found = Optional.ofNullable(export.files.get(file));
      if (found.isPresent()) {
        return export.shard.exportFile(found.get(), offset);
      }
    }
    throw new SagittaException(
        ErrorCode.NOT_FOUND, "no such file of a checkpoint of shard " + id + " on its way");
  }
}
