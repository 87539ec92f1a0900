// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file that is being written, front to back. One thread. */
public interface FileOutput extends Closeable {
  /** Appends all remaining bytes. */
  void write(ByteBuffer bytes) throws IOException;

  /** Bytes in the file so far. */
  long length();

  /**
   * Makes all bytes written so far, and the length, durable; not the file's name.
   *
   * @throws IOException when they may be lost; the file must not be used then, whatever a later
   *     call says
   */
  void sync() throws IOException;
}
