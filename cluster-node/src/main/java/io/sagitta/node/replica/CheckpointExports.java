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
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Checkpoints on their way to peers. While one is exported its files stay on disk, and they are the
 * only files a peer can read: what is asked for by name is looked up in a manifest, never in a
 * folder.
 */
public final class CheckpointExports {
  private record Export(Shard shard, Map<String, CheckpointFile> files) {}

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
      running.computeIfAbsent(id, unused -> new CopyOnWriteArrayList<>()).add(export);
      return () -> {
        running.get(id).remove(export);
        pin.close();
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Opens a file of a checkpoint that is being exported. */
  public InputStream open(ShardId id, String file, long offset) throws IOException {
    for (Export export : running.getOrDefault(id, List.of())) {
      Optional<CheckpointFile> found = Optional.ofNullable(export.files().get(file));
      if (found.isPresent()) {
        return export.shard().exportFile(found.get(), offset);
      }
    }
    throw new SagittaException(
        ErrorCode.NOT_FOUND, "no such file of a checkpoint of shard " + id + " on its way");
  }
}
