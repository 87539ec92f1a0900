// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import io.sagitta.model.Metric;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.util.Arrays;

/**
 * One query vector, checked and brought into the form that the kernels of its field read. Made once
 * per search, immutable, shared by threads.
 *
 * <p>For dot and cosine over floats the query is scaled by a power of two to a length in [2^40,
 * 2^41), which is exact and makes rounding near zero harmless for rows of any length; only rows
 * longer than about 2^86 can overflow, and those are scored in double ({@link Finish}).
 */
public final class PreparedQuery {
  /** Binary exponent of the scaled query's length. */
  private static final int SCALED_EXPONENT = 40;

  /** Which kernel reads the rows. */
  enum Kernel {
    DOT_FLOAT32,
    SQUARE_FLOAT32,
    DOT_FLOAT16,
    SQUARE_FLOAT16,
    DOT_INT8,
    SQUARE_INT8,
    DOT_INT8_FLOAT,
    SQUARE_INT8_FLOAT,
    HAMMING
  }

  final Kernel kernel;

  /** As asked, for {@link WideScore}. */
  final float[] original;

  /** Zero padded to blocks of 16, scaled; null where the kernel reads no floats. */
  final float[] floats;

  /** Zero padded to blocks of 16; null where the kernel reads no ints. */
  final int[] ints;

  /**
   * By component, padded likewise: which bits of a row's component count once it stands in an int,
   * none beyond the dimension.
   */
  final int[] keep;

  /** How 16-bit floats become floats, see {@link RowKernels#dotFloat16}. */
  final int shift;

  final float scale;

  /** Packed bits and the mask of those that count, zero padded to blocks of 64 bytes; or null. */
  final long[] bits;

  final long[] keepBits;

  /** What turns a raw dot product into the dot product, or into cosine times the row's length. */
  final double factor;

  final double norm;

  private final VectorType type;
  private final Metric metric;
  private final int dimension;

  private PreparedQuery(VectorType type, Metric metric, float[] values) {
    this.type = type;
    this.metric = metric;
    this.dimension = values.length;
    this.original = values;
    boolean integers =
        switch (type) {
          case INT8 -> integersWithin(values, Byte.MIN_VALUE, Byte.MAX_VALUE);
          case UINT8 -> integersWithin(values, 0, 255);
          case FLOAT32, FLOAT16, BFLOAT16, BINARY -> false;
        };
    this.kernel = kernel(type, metric, integers);
    this.norm = norm(values);
    if (metric == Metric.COSINE && norm == 0) {
      throw SagittaException.invalid(
          "the query vector is zero, which has no direction under metric cosine");
    }
    int exponent = 0;
    if (!integers && norm > 0 && (metric == Metric.COSINE || metric == Metric.DOT)) {
      exponent = SCALED_EXPONENT - Math.getExponent(norm);
    }
    this.factor = Math.scalb(metric == Metric.COSINE ? 1 / norm : 1, -exponent);
    boolean binary = type == VectorType.BINARY;
    this.floats = binary || integers ? null : scaled(values, exponent);
    this.ints = integers ? ints(values) : null;
    this.shift = type == VectorType.BFLOAT16 ? 16 : 13;
    this.scale = type == VectorType.BFLOAT16 ? 1 : 0x1p112f;
    this.bits = binary ? pack(values, true) : null;
    this.keepBits = binary ? pack(values, false) : null;
    this.keep = binary ? null : keep(type, values.length);
  }

  /**
   * Prepares {@code dimension} components that start at {@code values[at]} for a field.
   *
   * @throws SagittaException INVALID_ARGUMENT: a component is not finite (or for a binary field not
   *     0 or 1), or the vector is zero under cosine
   */
  public static PreparedQuery of(VectorField field, float[] values, int at) {
    return of(field.type(), field.metric(), field.dimension(), values, at);
  }

  /** Prepares a whole array, whose length must be the field's dimension. */
  public static PreparedQuery of(VectorField field, float[] values) {
    if (values.length != field.dimension()) {
      throw SagittaException.invalid(
          "query vector has "
              + values.length
              + " components, field "
              + Names.quote(field.name())
              + " expects "
              + field.dimension());
    }
    return of(field, values, 0);
  }

  /** As above without a schema. */
  public static PreparedQuery of(
      VectorType type, Metric metric, int dimension, float[] values, int at) {
    if ((type == VectorType.BINARY) != (metric == Metric.HAMMING)) {
      throw new IllegalArgumentException(metric + " over " + type);
    }
    float[] query = new float[dimension];
    System.arraycopy(values, at, query, 0, dimension);
    for (int i = 0; i < dimension; i++) {
      if (!Float.isFinite(query[i])) {
        throw SagittaException.invalid(
            "query vector: component " + i + " is " + query[i] + ", expected a finite number");
      }
      if (type == VectorType.BINARY && query[i] != 0 && query[i] != 1) {
        throw SagittaException.invalid(
            "query vector: component " + i + " is " + query[i] + ", expected a bit, 0 or 1");
      }
    }
    return new PreparedQuery(type, metric, query);
  }

  public VectorType type() {
    return type;
  }

  public Metric metric() {
    return metric;
  }

  public int dimension() {
    return dimension;
  }

  private static Kernel kernel(VectorType type, Metric metric, boolean integers) {
    boolean dot = metric == Metric.DOT || metric == Metric.COSINE;
    return switch (type) {
      case FLOAT32 -> dot ? Kernel.DOT_FLOAT32 : Kernel.SQUARE_FLOAT32;
      case FLOAT16, BFLOAT16 -> dot ? Kernel.DOT_FLOAT16 : Kernel.SQUARE_FLOAT16;
      case INT8, UINT8 ->
          integers
              ? (dot ? Kernel.DOT_INT8 : Kernel.SQUARE_INT8)
              : (dot ? Kernel.DOT_INT8_FLOAT : Kernel.SQUARE_INT8_FLOAT);
      case BINARY -> Kernel.HAMMING;
    };
  }

  private static boolean integersWithin(float[] values, int min, int max) {
    for (float value : values) {
      if (value != (int) value || value < min || value > max) {
        return false;
      }
    }
    return true;
  }

  /** The Euclidean length of finite components, in double; four sums, which do not wait. */
  public static double norm(float[] values) {
    double sum0 = 0;
    double sum1 = 0;
    double sum2 = 0;
    double sum3 = 0;
    int i = 0;
    for (; i <= values.length - 4; i += 4) {
      sum0 = Math.fma((double) values[i], (double) values[i], sum0);
      sum1 = Math.fma((double) values[i + 1], (double) values[i + 1], sum1);
      sum2 = Math.fma((double) values[i + 2], (double) values[i + 2], sum2);
      sum3 = Math.fma((double) values[i + 3], (double) values[i + 3], sum3);
    }
    for (; i < values.length; i++) {
      sum0 = Math.fma((double) values[i], (double) values[i], sum0);
    }
    return Math.sqrt((sum0 + sum2) + (sum1 + sum3));
  }

  private static int[] keep(VectorType type, int dimension) {
    int bits =
        switch (type) {
          // Sign extended and shifted by 13, a half's sign has copies where a float's exponent is.
          case FLOAT16 -> 0x8fffe000;
          case UINT8 -> 0xff;
          case FLOAT32, BFLOAT16, INT8, BINARY -> -1;
        };
    int[] out = new int[padded(dimension, RowKernels.LANES)];
    Arrays.fill(out, 0, dimension, bits);
    return out;
  }

  private static int padded(int length, int block) {
    return (length + block - 1) / block * block;
  }

  private static float[] scaled(float[] values, int exponent) {
    float[] out = new float[padded(values.length, RowKernels.LANES)];
    double power = Math.scalb(1.0, exponent);
    for (int i = 0; i < values.length; i++) {
      out[i] = (float) (values[i] * power);
    }
    return out;
  }

  private static int[] ints(float[] values) {
    int[] out = new int[padded(values.length, RowKernels.LANES)];
    for (int i = 0; i < values.length; i++) {
      out[i] = (int) values[i];
    }
    return out;
  }

  /**
   * Most significant bit first, as rows are; {@code asked} packs the values, otherwise all ones.
   */
  private static long[] pack(float[] values, boolean asked) {
    int bytes = padded((values.length + 7) / 8, RowKernels.BIT_BLOCK_BYTES);
    long[] out = new long[bytes / Long.BYTES];
    for (int i = 0; i < values.length; i++) {
      if (!asked || values[i] == 1) {
        int inByte = 7 - (i & 7);
        out[i >> 6] |= 1L << ((i & 56) + inByte);
      }
    }
    return out;
  }
}
