// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.store.FileStore;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/** A stored file as a stream, from an offset to its end. */
final class StoredBytes extends InputStream {
  private final FileStore store;
  private final String name;
  private final long end;
  private final CheckpointDirectory.Pin pin;
  private long at;

  StoredBytes(FileStore store, String name, long offset, long end, CheckpointDirectory.Pin pin) {
    this.store = store;
    this.name = name;
    this.at = offset;
    this.end = end;
    this.pin = pin;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, into.length);
    if (length == 0) {
      return 0;
    }
    if (at == end) {
      return -1;
    }
    ByteBuffer buffer = ByteBuffer.wrap(into, offset, (int) Math.min(length, end - at));
    store.read(name, at, buffer);
    int read = buffer.position() - offset;
    if (read == 0) {
      throw new EOFException("file " + name + " ends at " + at + ", expected " + end);
    }
    at += read;
    return read;
  }

  @Override
  public int available() {
    return (int) Math.min(Integer.MAX_VALUE, end - at);
  }

  @Override
  public void close() {
    pin.close();
  }
}
