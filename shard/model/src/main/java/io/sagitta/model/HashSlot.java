// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import com.dynatrace.hash4j.hashing.Hashing;

/**
 * The unit of placement: the top 12 bits of XXH3-64 over an id's canonical bytes. Golden values lie
 * beside the tests; they may never change.
 *
 * @param value 0 to 4,095
 */
public record HashSlot(int value) {
  public static final int BITS = 12;
  public static final int COUNT = 1 << BITS;

  public HashSlot {
    if (value < 0 || value >= COUNT) {
      throw new IllegalArgumentException("slot " + value + " is outside 0.." + (COUNT - 1));
    }
  }

  public static HashSlot of(PointId id) {
    return new HashSlot(of(id.canonicalBytes()));
  }

  /** Slot of canonical id bytes. */
  public static int of(byte[] canonical) {
    return ofHash(hash(canonical));
  }

  /** XXH3-64 of canonical id bytes. */
  public static long hash(byte[] canonical) {
    return Hashing.xxh3_64().hashBytesToLong(canonical);
  }

  /** As above for canonical bytes that lie within an array. */
  public static long hash(byte[] canonical, int from, int length) {
    return Hashing.xxh3_64().hashBytesToLong(canonical, from, length);
  }

  /** Slot of an id with this {@link #hash}. */
  public static int ofHash(long hash) {
    return (int) (hash >>> (Long.SIZE - BITS));
  }
}
