// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.InverseNorms;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.VectorRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** Vectors in memory, and the exact answers by scoring all of them. */
final class TestData {
  /** Shapes of data that graphs are known to be good or bad at. */
  enum Shape {
    RANDOM,
    CLUSTERED,
    COPIES,
    NEAR_COPIES,
    OUTLIERS
  }

  final VectorType type;
  final Metric metric;
  final int dimension;
  final List<float[]> vectors;
  final VectorRows rows;

  private TestData(
      Arena arena, VectorType type, Metric metric, int dimension, List<float[]> vectors) {
    this.type = type;
    this.metric = metric;
    this.dimension = dimension;
    this.vectors = vectors;
    int bytes = type.bytes(dimension);
    MemorySegment memory = arena.allocate((long) bytes * vectors.size() + 64, 64);
    for (int i = 0; i < vectors.size(); i++) {
      write(type, vectors.get(i), memory, (long) i * bytes);
    }
    VectorRows plain = VectorRows.packed(type, dimension, vectors.size(), memory);
    if (metric == Metric.COSINE) {
      MemorySegment norms = arena.allocate(4L * vectors.size(), 4);
      InverseNorms.fill(plain, 0, vectors.size(), norms);
      plain = plain.withInverseNorms(norms);
    }
    this.rows = plain;
  }

  static TestData of(
      Arena arena,
      VectorType type,
      Metric metric,
      int dimension,
      int count,
      Supplier<float[]> vectors) {
    return new TestData(
        arena,
        type,
        metric,
        dimension,
        IntStream.range(0, count).mapToObj(i -> rounded(type, vectors.get())).toList());
  }

  static TestData of(
      Arena arena,
      VectorType type,
      Metric metric,
      int dimension,
      int count,
      Shape shape,
      RandomGenerator random) {
    return of(arena, type, metric, dimension, count, source(type, shape, dimension, random));
  }

  /** Vectors of a shape, as many as asked for. */
  static Supplier<float[]> source(
      VectorType type, Shape shape, int dimension, RandomGenerator random) {
    // Components of int8 and uint8 are integers, so they need more room.
    float scale = type == VectorType.INT8 || type == VectorType.UINT8 ? 25 : 1;
    List<float[]> centres = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      centres.add(gaussian(dimension, scale, random));
    }
    return () ->
        switch (shape) {
          case RANDOM -> gaussian(dimension, scale, random);
          case CLUSTERED ->
              sum(
                  centres.get(random.nextInt(centres.size())),
                  gaussian(dimension, scale / 4, random));
          // A third is one vector, as often as that.
          case COPIES ->
              random.nextInt(3) == 0
                  ? centres.getFirst().clone()
                  : gaussian(dimension, scale, random);
          case NEAR_COPIES ->
              random.nextInt(3) == 0
                  ? sum(centres.getFirst(), gaussian(dimension, scale / 1000, random))
                  : gaussian(dimension, scale, random);
          case OUTLIERS ->
              gaussian(dimension, random.nextInt(50) == 0 ? 1000 * scale : scale, random);
        };
  }

  static float[] gaussian(int dimension, float scale, RandomGenerator random) {
    float[] out = new float[dimension];
    for (int i = 0; i < dimension; i++) {
      out[i] = (float) (scale * random.nextGaussian());
    }
    return out;
  }

  private static float[] sum(float[] left, float[] right) {
    float[] out = left.clone();
    for (int i = 0; i < out.length; i++) {
      out[i] += right[i];
    }
    return out;
  }

  /** To what the type can hold. */
  private static float[] rounded(VectorType type, float[] vector) {
    float[] out = vector.clone();
    for (int i = 0; i < out.length; i++) {
      out[i] =
          switch (type) {
            case FLOAT32 -> vector[i];
            case FLOAT16 -> Float.float16ToFloat(Float.floatToFloat16(vector[i]));
            case BFLOAT16 -> Float.intBitsToFloat(Float.floatToRawIntBits(vector[i]) & 0xffff0000);
            case INT8 -> Math.clamp(Math.round(vector[i]), -128, 127);
            case UINT8 -> Math.clamp(128 + Math.round(vector[i]), 0, 255);
            case BINARY -> vector[i] > 0 ? 1 : 0;
          };
    }
    return out;
  }

  private static void write(VectorType type, float[] vector, MemorySegment memory, long at) {
    ValueLayout.OfFloat floats =
        ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    ValueLayout.OfShort shorts =
        ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < vector.length; i++) {
      switch (type) {
        case FLOAT32 -> memory.set(floats, at + 4L * i, vector[i]);
        case FLOAT16 -> memory.set(shorts, at + 2L * i, Float.floatToFloat16(vector[i]));
        case BFLOAT16 ->
            memory.set(shorts, at + 2L * i, (short) (Float.floatToRawIntBits(vector[i]) >>> 16));
        case INT8, UINT8 -> memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) (int) vector[i]);
        case BINARY -> {
          byte bits = memory.get(ValueLayout.JAVA_BYTE, at + i / 8);
          bits |= (byte) ((int) vector[i] << 7 - i % 8);
          memory.set(ValueLayout.JAVA_BYTE, at + i / 8, bits);
        }
      }
    }
  }

  int count() {
    return vectors.size();
  }

  IndexParameters parameters() {
    return IndexParameters.of(type, metric, dimension);
  }

  /** The mean, in graph space, as an engine would choose it; zero for bits. */
  float[] centre() {
    float[] mean = new float[dimension];
    if (type == VectorType.BINARY) {
      return mean;
    }
    for (float[] vector : vectors) {
      double length = 0;
      for (float value : vector) {
        length += (double) value * value;
      }
      double scale = metric == Metric.COSINE ? 1 / Math.sqrt(length) : 1;
      for (int i = 0; i < dimension; i++) {
        mean[i] += (float) (vector[i] * scale / vectors.size());
      }
    }
    return mean;
  }

  PreparedQuery exact(float[] query) {
    return PreparedQuery.of(type, metric, dimension, query, 0);
  }

  CodeQuery coded(float[] query) {
    CodeQuery coded = new CodeQuery(parameters());
    coded.set(query, 0);
    return coded;
  }

  float[] query(float[] query) {
    return rounded(type, query);
  }

  ExactRows exactRows() {
    return (query, ordinals, from, to, out, at) ->
        Scorer.score(query, rows, ordinals, from, to, out, at);
  }

  /** Scores of all rows. */
  float[] scores(float[] query) {
    float[] out = new float[count()];
    Scorer.score(exact(query), rows, 0, count(), out, 0);
    return out;
  }

  /** The share of {@code found} whose score is among the {@code k} best of those accepted. */
  double recall(float[] query, int[] found, int count, int k, BitSet accepted) {
    float[] scores = scores(query);
    List<Float> best =
        accepted.stream()
            .mapToObj(i -> scores[i])
            .sorted(metric.higherIsBetter() ? Comparator.reverseOrder() : Comparator.naturalOrder())
            .limit(k)
            .toList();
    if (best.isEmpty()) {
      return 1;
    }
    float worst = best.getLast();
    int hits = 0;
    for (int i = 0; i < count; i++) {
      float score = scores[found[i]];
      hits += (metric.higherIsBetter() ? score >= worst : score <= worst) ? 1 : 0;
    }
    return (double) Math.min(hits, best.size()) / best.size();
  }

  BitSet all() {
    BitSet bits = new BitSet();
    bits.set(0, count());
    return bits;
  }
}
