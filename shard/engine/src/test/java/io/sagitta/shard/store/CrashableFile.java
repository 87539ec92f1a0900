// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.util.Arrays;
import java.util.BitSet;
import java.util.random.RandomGenerator;

/**
 * A file's bytes, as programs see them and as the disk has them: blocks of 4 KiB, written to disk
 * by a sync or, each on its own, at any time before.
 */
final class CrashableFile {
  private static final int BLOCK_BYTES = 4_096;

  /** What a disk writes whole or not at all. */
  private static final int SECTOR_BYTES = 512;

  private byte[] seen = new byte[0];
  private int length;
  private byte[] disk = new byte[0];
  private int diskLength;
  private final BitSet unsynced = new BitSet();

  void append(byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    int end = length + bytes.length;
    if (end > seen.length) {
      seen = Arrays.copyOf(seen, Math.max(end, seen.length * 2));
    }
    System.arraycopy(bytes, 0, seen, length, bytes.length);
    unsynced.set(length / BLOCK_BYTES, (end - 1) / BLOCK_BYTES + 1);
    length = end;
  }

  byte[] bytes() {
    return Arrays.copyOf(seen, length);
  }

  int length() {
    return length;
  }

  void sync() {
    disk = Arrays.copyOf(seen, length);
    diskLength = length;
    unsynced.clear();
  }

  /**
   * As Linux does after a failed write-back: the pages are marked clean and will never be written.
   */
  void failSync() {
    unsynced.clear();
  }

  /**
   * What a power cut leaves: the synced bytes, with any of the blocks written since, whole or some
   * of their sectors, and any length from the synced one to the last.
   *
   * @param keep chance of a block to have reached the disk
   */
  CrashableFile afterPowerCut(RandomGenerator random, double keep) {
    int lengthLeft = diskLength;
    if (length != diskLength && !unsynced.isEmpty() && random.nextDouble() < keep) {
      int low = Math.min(length, diskLength);
      lengthLeft =
          random.nextBoolean() ? length : low + random.nextInt(Math.abs(length - diskLength) + 1);
    }
    byte[] left = Arrays.copyOf(disk, Math.max(lengthLeft, diskLength));
    if (random.nextInt(4) == 0) {
      fillWithGarbage(left, diskLength, random);
    }
    for (int block = unsynced.nextSetBit(0); block >= 0; block = unsynced.nextSetBit(block + 1)) {
      if (random.nextDouble() < keep) {
        boolean torn = random.nextInt(3) == 0;
        int from = block * BLOCK_BYTES;
        for (int at = from; at < from + BLOCK_BYTES; at += SECTOR_BYTES) {
          if (!torn || random.nextBoolean()) {
            copy(left, at, Math.min(lengthLeft, at + SECTOR_BYTES));
          }
        }
      }
    }
    CrashableFile file = new CrashableFile();
    file.append(Arrays.copyOf(left, lengthLeft));
    file.sync();
    return file;
  }

  /** Blocks that were allocated and not yet written may show what lay there before. */
  private static void fillWithGarbage(byte[] bytes, int from, RandomGenerator random) {
    for (int i = from; i < bytes.length; i++) {
      bytes[i] = (byte) random.nextInt();
    }
  }

  private void copy(byte[] to, int from, int end) {
    if (from < end) {
      System.arraycopy(seen, from, to, from, end - from);
    }
  }
}
