// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Reads one member of a gzipped tar archive (POSIX ustar), as npm packages are. */
final class TarGz {
  private static final int BLOCK = 512;
  private static final int NAME_BYTES = 100;
  private static final int SIZE_AT = 124;
  private static final int SIZE_BYTES = 12;

  private TarGz() {}

  /** The bytes of the named member; closing the stream closes the archive. */
  static InputStream open(Path archive, String member) throws IOException {
    InputStream in = new GZIPInputStream(Files.newInputStream(archive), 1 << 16);
    try {
      byte[] header = new byte[BLOCK];
      while (in.readNBytes(header, 0, BLOCK) == BLOCK && header[0] != 0) {
        long size = Long.parseLong(text(header, SIZE_AT, SIZE_BYTES), 8);
        if (text(header, 0, NAME_BYTES).equals(member)) {
          return new Member(in, size);
        }
        in.skipNBytes((size + BLOCK - 1) / BLOCK * BLOCK);
      }
      throw new IOException(archive + " has no " + member);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  private static String text(byte[] header, int at, int length) {
    int end = at;
    while (end < at + length && header[end] != 0) {
      end++;
    }
    return new String(header, at, end - at, StandardCharsets.US_ASCII).strip();
  }

  /** Ends where the member ends. */
  private static final class Member extends FilterInputStream {
    private long left;

    Member(InputStream in, long size) {
      super(in);
      this.left = size;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
      if (left == 0) {
        return -1;
      }
      int read = in.read(into, at, (int) Math.min(length, left));
      if (read < 0) {
        throw new EOFException("the archive ends inside a member");
      }
      left -= read;
      return read;
    }
  }
}
