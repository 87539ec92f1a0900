// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileOutput;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;

/** The one way a framed file comes to be: temporary name, fsync, rename. */
final class NewFile {
  /** Writes the sections of a file. */
  interface Content {
    void writeTo(FrameWriter out) throws IOException;
  }

  private NewFile() {}

  /**
   * Writes a file. Its bytes are durable on return; its name is after {@link
   * FileStore#syncDirectory}, which {@link CheckpointDirectory#publish} calls for all.
   */
  static CheckpointFile write(FileStore store, String name, FrameHeader header, Content content)
      throws IOException {
    String temporary = name + ShardFiles.TEMPORARY;
    if (store.exists(temporary)) {
      store.delete(temporary);
    }
    FrameWriter.Written written;
    try (FileOutput out = store.create(temporary);
        FrameWriter frame = new FrameWriter(out, header)) {
      content.writeTo(frame);
      written = frame.finish();
      out.sync();
    } catch (IOException e) {
      discard(store, temporary);
      throw e;
    }
    store.rename(temporary, name);
    return new CheckpointFile(name, written.length(), written.checksum());
  }

  /** Gives back what a failed write took: the disk may be full. */
  static void discard(FileStore store, String temporary) {
    try {
      store.delete(temporary);
    } catch (IOException e) {
      // The next open removes it.
    }
  }
}
