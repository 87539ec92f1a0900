// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileOutput;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Files on their way from a peer: {@code .part} while bytes arrive, {@code .staged} once complete
 * and verified, then their own name. Both carry the checksum awaited in their name, so that what
 * belongs to another checkpoint is never taken for it, and both survive a restart.
 */
final class Arrivals {
  private static final int COPY_BYTES = 256 << 10;

  private final FileStore store;
  private final SoundFiles sound;

  Arrivals(FileStore store, SoundFiles sound) {
    this.store = store;
    this.sound = sound;
  }

  /** Whether a file of this name is on its way. */
  static boolean isArrival(String name) {
    return name.endsWith(ShardFiles.PART) || name.endsWith(ShardFiles.STAGED);
  }

  /** Bytes of a file that have arrived; a part that is longer than the file is none of it. */
  long kept(CheckpointFile file) throws IOException {
    String part = ShardFiles.part(file);
    if (!store.exists(part)) {
      return 0;
    }
    long length = store.length(part);
    if (length > file.length()) {
      store.delete(part);
      return 0;
    }
    return length;
  }

  /** Receives a file or the rest of it from {@code offset}, verifies it, and makes it durable. */
  void receive(CheckpointFile file, InputStream bytes, long offset) throws IOException {
    String part = ShardFiles.part(file);
    write(file, part, bytes, offset);
    String problem = FileCheck.problem(store, part, file);
    if (problem != null) {
      store.delete(part);
      throw new CorruptFileException(file.name(), 0, "received: " + problem);
    }
    String staged = ShardFiles.staged(file);
    store.rename(part, staged);
    store.syncDirectory("");
    sound.add(file, staged);
  }

  /** Whether a file has arrived. */
  boolean isStaged(CheckpointFile file) throws IOException {
    return sound.isSound(file, ShardFiles.staged(file));
  }

  /** Gives a file that has arrived its own name. */
  void adopt(CheckpointFile file) throws IOException {
    String staged = ShardFiles.staged(file);
    store.rename(staged, file.name());
    sound.forget(staged);
    sound.forget(file.name());
    sound.add(file, file.name());
  }

  /** Removes what is on its way or has arrived, unless it is one of these files. */
  void removeExcept(Collection<CheckpointFile> wanted) throws IOException {
    Set<String> kept = new HashSet<>();
    for (CheckpointFile file : wanted) {
      kept.add(ShardFiles.part(file));
      kept.add(ShardFiles.staged(file));
    }
    for (String name : store.list("")) {
      if (isArrival(name) && !kept.contains(name)) {
        store.delete(name);
        sound.forget(name);
      }
    }
  }

  private void write(CheckpointFile file, String part, InputStream bytes, long offset)
      throws IOException {
    if (offset == 0 && store.exists(part)) {
      store.delete(part);
    }
    try (FileOutput out = offset == 0 ? store.create(part) : store.append(part)) {
      if (out.length() != offset) {
        throw new IllegalArgumentException(
            "import goes on at " + offset + ", but " + out.length() + " bytes are here");
      }
      byte[] buffer = new byte[COPY_BYTES];
      int read;
      while ((read = bytes.read(buffer)) >= 0) {
        // Bytes beyond the length show that it is another file; one buffer of them is enough.
        out.write(ByteBuffer.wrap(buffer, 0, read));
        if (out.length() > file.length()) {
          break;
        }
      }
      out.sync();
    }
  }
}
