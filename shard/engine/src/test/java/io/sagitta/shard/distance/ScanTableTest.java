// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

@Seeded
class ScanTableTest {
  private static final int VECTORS = 2 * ScanTable.GROUP;

  @Test
  void every_kernel_passes_the_same_vectors(Seed seed) {
    SplittableRandom random = new SplittableRandom(seed.value());
    for (int runs = 4; runs <= 72; runs += 4) {
      byte[][] codes = new byte[VECTORS][runs];
      byte[] entries = new byte[16 * runs];
      for (int i = 0; i < entries.length; i++) {
        // Now and then the greatest sums there are: lanes must not overflow.
        entries[i] = (byte) (random.nextInt(4) == 0 ? ScanTable.ENTRY_MAX : random.nextInt(64));
      }
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment groups = arena.allocate(2L * ScanTable.groupBytes(runs), 64);
        int[] sums = new int[VECTORS];
        for (int v = 0; v < VECTORS; v++) {
          for (int run = 0; run < runs; run++) {
            codes[v][run] = (byte) random.nextInt(16);
            sums[v] += entries[16 * run + codes[v][run]];
          }
          ScanTable.putCodes(
              groups.address() + (long) (v / ScanTable.GROUP) * ScanTable.groupBytes(runs),
              v % ScanTable.GROUP,
              codes[v],
              runs);
        }
        int[] thresholds = Arrays.copyOf(sums, VECTORS + 3);
        thresholds[VECTORS + 1] = Short.MAX_VALUE;
        thresholds[VECTORS + 2] = sums[0] + 1;
        for (int threshold : thresholds) {
          int expected = 0;
          for (int v = 0; v < VECTORS; v++) {
            expected |= sums[v] >= threshold ? 1 << v : 0;
          }
          for (CodeKernels kernels : kernels()) {
            assertThat(kernels.sumsAtLeast(groups.address(), entries, runs, (short) threshold))
                .as("%s, %d runs, threshold %d", kernels, runs, threshold)
                .isEqualTo(expected);
          }
        }
      }
    }
  }

  private static List<CodeKernels> kernels() {
    List<CodeKernels> all =
        List.of(
            new ScalarCodeKernels(),
            new CodeKernels128(),
            new CodeKernels256(),
            new CodeKernels512());
    int bits = FloatVector.SPECIES_PREFERRED.vectorBitSize();
    return all.subList(0, bits >= 512 ? 4 : bits >= 256 ? 3 : 2);
  }

  @Test
  void a_scan_passes_what_the_codes_say_is_near_enough(Seed seed) {
    SplittableRandom random = new SplittableRandom(seed.value());
    for (int dimension : new int[] {1, 3, 7, 100, 101, 256}) {
      float[] samples = gaussian(400 * dimension, random);
      SubspaceQuantizer quantizer = SubspaceQuantizer.train(dimension, samples, 400);
      int runs = quantizer.runs();
      float[] query = gaussian(dimension, random);
      double[] products = new double[VECTORS];
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment groups = arena.allocate(2L * ScanTable.groupBytes(runs), 64);
        for (int v = 0; v < VECTORS; v++) {
          float[] vector = Arrays.copyOfRange(samples, v * dimension, (v + 1) * dimension);
          byte[] codes = new byte[runs];
          quantizer.encode(vector, codes, new float[SubspaceQuantizer.CENTROIDS]);
          products[v] = codedProduct(quantizer, query, codes);
          ScanTable.putCodes(
              groups.address() + (long) (v / ScanTable.GROUP) * ScanTable.groupBytes(runs),
              v % ScanTable.GROUP,
              codes,
              runs);
        }
        ScanTable table = new ScanTable();
        table.set(quantizer, query);
        double widest = widest(quantizer, query);
        double step = widest / ScanTable.ENTRY_MAX;
        double wanted = products[random.nextInt(VECTORS)];
        int mask = table.atLeast(groups.address(), (float) wanted);
        for (int v = 0; v < VECTORS; v++) {
          // Each entry is rounded to a whole step, and the threshold down to one.
          if (Math.abs(products[v] - wanted) > step * (runs / 2.0 + 2)) {
            assertThat(mask >>> v & 1)
                .as("dimension %d, product %f of %f", dimension, products[v], wanted)
                .isEqualTo(products[v] > wanted ? 1 : 0);
          }
        }
      }
    }
  }

  @Test
  void training_is_repeatable_and_leaves_less_than_half_of_gaussian_noise(Seed seed) {
    SplittableRandom random = new SplittableRandom(seed.value());
    int dimension = 100;
    float[] samples = gaussian(4_000 * dimension, random);
    SubspaceQuantizer quantizer = SubspaceQuantizer.train(dimension, samples, 4_000);
    assertThat(SubspaceQuantizer.train(dimension, samples, 4_000).codebook())
        .isEqualTo(quantizer.codebook());
    double error = 0;
    double all = 0;
    byte[] codes = new byte[quantizer.runs()];
    for (int i = 0; i < 200; i++) {
      float[] fresh = gaussian(dimension, random);
      quantizer.encode(fresh, codes, new float[SubspaceQuantizer.CENTROIDS]);
      error += quantizer.squaredError(fresh, codes);
      for (float value : fresh) {
        all += value * value;
      }
    }
    assertThat(error / all).isBetween(0.1, 0.5);
  }

  /** From the codebook itself, in double. */
  private static double codedProduct(SubspaceQuantizer quantizer, float[] query, byte[] codes) {
    double sum = 0;
    for (int c = 0; c < query.length; c++) {
      sum += query[c] * (double) quantizer.codebook()[16 * c + codes[run(quantizer, c)]];
    }
    return sum;
  }

  private static int run(SubspaceQuantizer quantizer, int component) {
    int run = 0;
    while ((long) (run + 1) * quantizer.dimension() / quantizer.runs() <= component) {
      run++;
    }
    return run;
  }

  private static double widest(SubspaceQuantizer quantizer, float[] query) {
    float[] products = new float[16 * quantizer.runs()];
    quantizer.products(query, products);
    double widest = 0;
    for (int run = 0; run < quantizer.runs(); run++) {
      float[] own = Arrays.copyOfRange(products, 16 * run, 16 * run + 16);
      Arrays.sort(own);
      widest = Math.max(widest, own[15] - own[0]);
    }
    return widest;
  }

  private static float[] gaussian(int count, SplittableRandom random) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
