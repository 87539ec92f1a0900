// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.shard.format.CheckpointDirectory;
import io.sagitta.shard.format.Manifest;
import io.sagitta.shard.store.FileStore;
import io.sagitta.shard.store.FsStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * A shard that cannot be opened, since files of its checkpoint are damaged ({@link
 * DamagedCheckpointException}): a peer's checkpoint is received into its directory and takes the
 * place of its own. No rows are loaded.
 *
 * <p>Every step leaves either the damaged checkpoint, which is found damaged again, or the peer's,
 * whole: {@link CheckpointDirectory} renames the files that have arrived to their names, and the
 * manifest last. So it may be broken off anywhere and be done again, and what had arrived is not
 * fetched twice. Nothing else uses the directory meanwhile.
 */
public final class DamagedShard implements CheckpointReceiver {
  private final CheckpointDirectory directory;

  private DamagedShard(CheckpointDirectory directory) {
    this.directory = directory;
  }

  /** The damaged shard in a directory, what is bad of its checkpoint moved to quarantine. */
  public static DamagedShard open(Path directory) throws IOException {
    return open(FsStore.open(directory));
  }

  /** The damaged shard in a store. */
  public static DamagedShard open(FileStore store) throws IOException {
    return new DamagedShard(CheckpointDirectory.open(store));
  }

  @Override
  public List<CheckpointFile> missingFiles(byte[] manifest) throws IOException {
    return directory.missing(Manifest.fromBytes(manifest, "a peer's manifest"));
  }

  @Override
  public long importedBytes(CheckpointFile file) throws IOException {
    return directory.imported(file);
  }

  @Override
  public void importFile(CheckpointFile file, InputStream bytes, long offset) throws IOException {
    directory.importFile(file, bytes, offset);
  }

  /**
   * Makes a checkpoint whose files have all arrived the shard's own, durable on return; then the
   * shard opens.
   *
   * @throws java.nio.file.NoSuchFileException where a file has not arrived
   */
  public void install(byte[] manifest) throws IOException {
    directory.install(Manifest.fromBytes(manifest, "a manifest to repair with"));
    directory.repaired();
  }
}
