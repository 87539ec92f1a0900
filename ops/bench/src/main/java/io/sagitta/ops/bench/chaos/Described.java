// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * A point whose whole content follows from its id and its edition, so that any mixture of two
 * editions, of two points, or of vector and payload shows by itself.
 *
 * <p>Components 0 to 3 of the vector hold id and edition as numbers below 2^24, which float32 holds
 * exactly; the others are drawn from (id, edition). The payload repeats both, names who wrote it,
 * and has a checksum over all of it.
 *
 * @param id at most 2^40
 * @param edition how often the writer has written this id, from 1; at most 2^40
 * @param writer who wrote it
 */
public record Described(long id, long edition, int writer) {
  /** Components of the vector. */
  public static final int DIMENSION = 16;

  private static final int HEAD = 4;
  private static final int HALF_BITS = 20;
  private static final long HALF_MASK = (1L << HALF_BITS) - 1;

  public Described {
    if (id < 0 || id >>> (2 * HALF_BITS) != 0 || edition < 1 || edition >>> (2 * HALF_BITS) != 0) {
      throw new IllegalArgumentException("id " + id + ", edition " + edition);
    }
  }

  /** The vector. */
  public float[] vector() {
    float[] vector = new float[DIMENSION];
    vector[0] = id >>> HALF_BITS;
    vector[1] = id & HALF_MASK;
    vector[2] = edition >>> HALF_BITS;
    vector[3] = edition & HALF_MASK;
    SplittableRandom random = new SplittableRandom(id * 0x9E3779B97F4A7C15L + edition);
    for (int d = HEAD; d < DIMENSION; d++) {
      vector[d] = (float) random.nextDouble(-1, 1);
    }
    return vector;
  }

  /** The payload's checksum. */
  public long checksum() {
    CRC32C crc = new CRC32C();
    ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES + (1 + DIMENSION) * Integer.BYTES);
    bytes.putLong(id).putLong(edition).putInt(writer);
    for (float component : vector()) {
      bytes.putFloat(component);
    }
    crc.update(bytes.flip());
    return crc.getValue();
  }

  /**
   * What is wrong with a point that was read; empty where it is whole.
   *
   * @param id its id
   * @param edition edition, writer and checksum as its payload says
   */
  static String flaw(long id, long edition, int writer, long checksum, float[] vector) {
    if (id < 0 || id >>> (2 * HALF_BITS) != 0 || edition < 1 || edition >>> (2 * HALF_BITS) != 0) {
      return "id " + id + " with edition " + edition + " was never written";
    }
    Described whole = new Described(id, edition, writer);
    if (!Arrays.equals(whole.vector(), vector)) {
      return "its vector is not that of edition " + edition;
    }
    if (whole.checksum() != checksum) {
      return "its checksum does not fit edition " + edition;
    }
    return "";
  }
}
