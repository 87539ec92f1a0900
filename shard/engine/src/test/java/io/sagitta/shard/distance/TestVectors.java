// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import jdk.incubator.vector.FloatVector;

/** Vectors as plain arrays, and the memory that the kernels read them from. */
final class TestVectors {
  static final List<RowKernels> ALL_KERNELS =
      List.of(new ScalarKernels(), new Kernels128(), new Kernels256(), new Kernels512());

  private TestVectors() {}

  /** Those that this machine has registers for; the others are emulated, which is slow. */
  static List<RowKernels> nativeKernels() {
    int bits = FloatVector.SPECIES_PREFERRED.vectorBitSize();
    return ALL_KERNELS.subList(0, bits >= 512 ? 4 : bits >= 256 ? 3 : 2);
  }

  static List<Metric> metrics(VectorType type) {
    return type == VectorType.BINARY
        ? List.of(Metric.HAMMING)
        : List.of(Metric.DOT, Metric.COSINE, Metric.L2);
  }

  /** Components that the type holds exactly. */
  static float[] random(VectorType type, int dim, RandomGenerator random) {
    float[] out = new float[dim];
    int style = random.nextInt(5);
    for (int i = 0; i < dim; i++) {
      out[i] =
          switch (type) {
            case FLOAT32 -> randomFloat(style, random);
            case FLOAT16 -> randomHalf(style, random);
            case BFLOAT16 ->
                Float.intBitsToFloat(
                    Float.floatToRawIntBits(randomFloat(style, random)) & 0xffff0000);
            case INT8 -> random.nextInt(-128, 128);
            case UINT8 -> random.nextInt(256);
            case BINARY -> random.nextInt(2);
          };
    }
    return out;
  }

  /** Ordinary, of mixed signs and magnitudes, cancelling, tiny, huge. */
  private static float randomFloat(int style, RandomGenerator random) {
    float unit = (float) random.nextGaussian();
    return switch (style) {
      case 0 -> unit;
      case 1 -> Math.scalb(unit, random.nextInt(-30, 30));
      case 2 -> random.nextInt(3) - 1;
      case 3 -> Math.scalb(unit, random.nextInt(-160, -110));
      default -> Math.clamp(Math.scalb(unit, random.nextInt(100, 130)), -3e38f, 3e38f);
    };
  }

  private static float randomHalf(int style, RandomGenerator random) {
    short bits = (short) random.nextInt(1 << 16);
    if ((bits & 0x7c00) == 0x7c00) {
      return 65504;
    }
    return style == 0
        ? Float.float16ToFloat(Float.floatToFloat16((float) random.nextGaussian()))
        : Float.float16ToFloat(bits);
  }

  /** The row's bytes as stored. */
  static byte[] encode(VectorType type, float[] vector) {
    byte[] out = new byte[type.bytes(vector.length)];
    for (int i = 0; i < vector.length; i++) {
      switch (type) {
        case FLOAT32 -> put(out, 4 * i, Float.floatToRawIntBits(vector[i]), 4);
        case FLOAT16 -> put(out, 2 * i, Float.floatToFloat16(vector[i]), 2);
        case BFLOAT16 -> put(out, 2 * i, Float.floatToRawIntBits(vector[i]) >>> 16, 2);
        case INT8, UINT8 -> out[i] = (byte) (int) vector[i];
        case BINARY -> out[i / 8] |= (byte) ((int) vector[i] << (7 - i % 8));
      }
    }
    return out;
  }

  private static void put(byte[] out, int at, int bits, int bytes) {
    for (int i = 0; i < bytes; i++) {
      out[at + i] = (byte) (bits >>> (8 * i));
    }
  }

  /**
   * The vectors in memory with inverse norms. Bytes that belong to no row are all ones, which reads
   * as NaN: a kernel that uses them shows it.
   *
   * @param padding bytes between rows
   * @param slack bytes behind the last row
   */
  static VectorRows rows(
      Arena arena, VectorType type, List<float[]> vectors, long offset, int padding, int slack) {
    int dim = vectors.getFirst().length;
    long stride = (long) type.bytes(dim) + padding;
    MemorySegment memory =
        arena.allocate(offset + stride * vectors.size() - padding + slack, 1).fill((byte) -1);
    for (int i = 0; i < vectors.size(); i++) {
      MemorySegment.copy(
          MemorySegment.ofArray(encode(type, vectors.get(i))),
          0,
          memory,
          offset + i * stride,
          type.bytes(dim));
    }
    VectorRows rows = VectorRows.of(type, dim, vectors.size(), memory, offset, stride);
    if (type == VectorType.BINARY) {
      return rows;
    }
    MemorySegment norms = arena.allocate(4L * vectors.size(), 4);
    InverseNorms.fill(rows, 0, vectors.size(), norms);
    return rows.withInverseNorms(norms);
  }

  static VectorRows rows(Arena arena, VectorType type, float[]... vectors) {
    return rows(arena, type, Arrays.asList(vectors), 0, 0, 0);
  }

  static List<float[]> randomVectors(VectorType type, int dim, int count, RandomGenerator random) {
    List<float[]> out = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      out.add(random(type, dim, random));
    }
    return out;
  }

  static PreparedQuery query(VectorType type, Metric metric, float... vector) {
    return PreparedQuery.of(type, metric, vector.length, vector, 0);
  }

  static float[] scores(RowKernels kernels, PreparedQuery query, VectorRows rows) {
    float[] out = new float[rows.count()];
    Scorer.score(kernels, query, rows, null, 0, rows.count(), out, 0);
    return out;
  }
}
