// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The least that can go wrong with a file. */
public final class FlippedBit {
  private FlippedBit() {}

  /** Flips a bit in place, so that whoever has the file mapped reads it too. */
  public static void inTheMiddleOf(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer middle = ByteBuffer.allocate(1);
      channel.read(middle, channel.size() / 2);
      middle.put(0, (byte) (middle.get(0) ^ 1)).rewind();
      channel.write(middle, channel.size() / 2);
    }
  }
}
