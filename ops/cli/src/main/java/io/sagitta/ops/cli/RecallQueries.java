// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.model.VectorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Query vectors for a measurement, made from stored ones: vectors that are stored, which is how
 * "more like this" asks, and points between two of them, which no row is.
 */
final class RecallQueries {
  private final VectorType type;

  RecallQueries(VectorType type) {
    this.type = type;
  }

  /** A vector as answers show it; bits become zeros and ones. */
  static float[] components(VectorType type, int dimension, JsonNode value) {
    float[] out = new float[dimension];
    if (type == VectorType.BINARY) {
      byte[] bits = Base64.getDecoder().decode(value.textValue());
      for (int i = 0; i < dimension; i++) {
        out[i] = bits[i >> 3] >> 7 - (i & 7) & 1;
      }
      return out;
    }
    for (int i = 0; i < dimension; i++) {
      JsonNode item = value.get(i);
      out[i] = type == VectorType.BFLOAT16 ? brain(item.textValue()) : item.floatValue();
    }
    return out;
  }

  private static float brain(String base64) {
    byte[] bytes = Base64.getDecoder().decode(base64);
    int bits = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getShort();
    return Float.intBitsToFloat(bits << 16);
  }

  /**
   * Points between two stored vectors, drawn anew for each: of two random rows the middle; of bits
   * each from one of the two.
   */
  List<float[]> between(List<float[]> stored, int count, RandomGenerator random) {
    List<float[]> out = new ArrayList<>();
    for (int i = 0; i < count && stored.size() > 1; i++) {
      float[] left = stored.get(random.nextInt(stored.size()));
      float[] right = stored.get(random.nextInt(stored.size()));
      float[] middle = middle(left, right, random);
      // What two opposite vectors have between them has no direction.
      out.add(isZero(middle) ? left : middle);
    }
    return out;
  }

  private float[] middle(float[] left, float[] right, RandomGenerator random) {
    float[] out = new float[left.length];
    for (int i = 0; i < out.length; i++) {
      float middle = left[i] / 2 + right[i] / 2;
      out[i] =
          switch (type) {
            case BINARY -> random.nextBoolean() ? left[i] : right[i];
            case INT8, UINT8 -> (float) Math.rint(middle);
            case FLOAT32, FLOAT16, BFLOAT16 -> middle;
          };
    }
    return out;
  }

  private static boolean isZero(float[] vector) {
    for (float value : vector) {
      if (value != 0) {
        return false;
      }
    }
    return true;
  }

  /** As {@code vector_f32} of a request. */
  static String packed(List<float[]> vectors) {
    int dimension = vectors.getFirst().length;
    ByteBuffer bytes =
        ByteBuffer.allocate(vectors.size() * dimension * Float.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (float[] vector : vectors) {
      for (float value : vector) {
        bytes.putFloat(value);
      }
    }
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
