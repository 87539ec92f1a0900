// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

/** In plain Java: the reference for the others, and what runs where the Vector API is absent. */
final class ScalarCodeKernels extends CodeKernels {

  @Override
  void products(
      long base, long stride, int[] ordinals, int count, short[] planes, int blocks, int[] out) {
    for (int i = 0; i < count; i++) {
      out[i] = product(base + ordinals[i] * stride, planes, blocks);
    }
  }

  private static int product(long row, short[] planes, int blocks) {
    int even = 0;
    int odd = 0;
    for (int block = 0; block < blocks; block++) {
      int q = block * CodeLayout.BLOCK_COMPONENTS;
      for (int lane = 0; lane < CodeLayout.LANES; lane++, q++) {
        int codes = NativeMemory.shortAt(row + 2L * (block * CodeLayout.LANES + lane));
        even += (codes & 15) * planes[q] + (codes >> 8 & 15) * planes[q + 2 * CodeLayout.LANES];
        odd +=
            (codes >> 4 & 15) * planes[q + CodeLayout.LANES]
                + (codes >> 12 & 15) * planes[q + 3 * CodeLayout.LANES];
      }
    }
    return even + odd;
  }

  @Override
  void differing(long base, long stride, int[] ordinals, int count, long[] bits, int[] out) {
    for (int i = 0; i < count; i++) {
      long row = base + ordinals[i] * stride;
      int sum = 0;
      for (int word = 0; word < bits.length; word++) {
        sum += Long.bitCount(bits[word] ^ NativeMemory.longAt(row + 8L * word));
      }
      out[i] = sum;
    }
  }

  @Override
  int sumsAtLeast(long groups, byte[] entries, int runs, short threshold) {
    int mask = 0;
    for (int i = 0; i < 2 * ScanTable.GROUP; i++) {
      int place = i % ScanTable.GROUP;
      long at =
          groups
              + (long) (i / ScanTable.GROUP) * ScanTable.groupBytes(runs)
              + 2L * (place % 8)
              + place / 8;
      int sum = 0;
      for (int run = 0; run < runs; run += 2) {
        int codes = NativeMemory.byteAt(at + 8L * run);
        sum += entries[16 * run + (codes & 15)] + entries[16 * run + 16 + (codes >> 4 & 15)];
      }
      mask |= sum >= threshold ? 1 << i : 0;
    }
    return mask;
  }

  @Override
  void unpack(long high, long low, short[] keep, short[] planes, int blocks) {
    for (int block = 0; block < blocks; block++) {
      for (int lane = 0; lane < CodeLayout.LANES; lane++) {
        long at = 2L * (block * CodeLayout.LANES + lane);
        int highs = NativeMemory.shortAt(high + at);
        int lows = NativeMemory.shortAt(low + at);
        for (int plane = 0; plane < 4; plane++) {
          int q = (block * 4 + plane) * CodeLayout.LANES + lane;
          int code = (highs >> (4 * plane) & 15) << 4 | lows >> (4 * plane) & 15;
          planes[q] = (short) ((code - 128) & keep[q]);
        }
      }
    }
  }
}
