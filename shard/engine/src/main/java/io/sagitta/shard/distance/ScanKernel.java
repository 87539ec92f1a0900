// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static io.sagitta.shard.distance.NativeMemory.ALL;
import static io.sagitta.shard.distance.NativeMemory.LE;
import static jdk.incubator.vector.VectorOperators.GE;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The scan of {@link ScanTable} with byte shuffles. Registers of 128 bits whatever the machine has:
 * a table of 16 bytes fills one, and wider shuffles of bytes cross lanes, which AVX2 does not have.
 */
final class ScanKernel {
  private static final VectorSpecies<Byte> B = ByteVector.SPECIES_128;
  private static final VectorSpecies<Short> S = ShortVector.SPECIES_128;

  // A receiver whose class C2 knows: see RowKernels.
  private static final ShortVector ZERO = ShortVector.zero(S);

  private ScanKernel() {}

  /** See {@link CodeKernels#sumsAtLeast}. Both groups at once, since they share the tables. */
  static int sumsAtLeast(long groups, byte[] entries, int runs, short threshold) {
    long second = groups + ScanTable.groupBytes(runs);
    ShortVector all = ShortVector.zero(S);
    ShortVector odd = ShortVector.zero(S);
    ShortVector all2 = ShortVector.zero(S);
    ShortVector odd2 = ShortVector.zero(S);
    for (int run = 0; run < runs; run += 2) {
      ByteVector codes = ByteVector.fromMemorySegment(B, ALL, groups + 8L * run, LE);
      ByteVector codes2 = ByteVector.fromMemorySegment(B, ALL, second + 8L * run, LE);
      ByteVector table = ByteVector.fromArray(B, entries, 16 * run);
      ByteVector next = ByteVector.fromArray(B, entries, 16 * run + 16);
      ShortVector sum =
          codes
              .and((byte) 15)
              .selectFrom(table)
              .add(
                  codes
                      .reinterpretAsShorts()
                      .lanewise(LSHR, 4)
                      .reinterpretAsBytes()
                      .and((byte) 15)
                      .selectFrom(next))
              .reinterpretAsShorts();
      ShortVector sum2 =
          codes2
              .and((byte) 15)
              .selectFrom(table)
              .add(
                  codes2
                      .reinterpretAsShorts()
                      .lanewise(LSHR, 4)
                      .reinterpretAsBytes()
                      .and((byte) 15)
                      .selectFrom(next))
              .reinterpretAsShorts();
      all = sum.add(all);
      odd = sum.lanewise(LSHR, 8).add(odd);
      all2 = sum2.add(all2);
      odd2 = sum2.lanewise(LSHR, 8).add(odd2);
    }
    // The odd bytes' sums, 256 fold, are all that the even ones' have too much, modulo 2^16.
    ShortVector odds = ZERO.add(odd);
    ShortVector odds2 = ZERO.add(odd2);
    long low = ZERO.add(all).sub(odds.lanewise(LSHL, 8)).compare(GE, threshold).toLong();
    long high = odds.compare(GE, threshold).toLong();
    long low2 = ZERO.add(all2).sub(odds2.lanewise(LSHL, 8)).compare(GE, threshold).toLong();
    long high2 = odds2.compare(GE, threshold).toLong();
    return (int) (low | high << 8 | low2 << 16 | high2 << 24);
  }
}
