// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.Scorer;
import io.sagitta.shard.distance.TopK;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A search that has grown its room puts nothing on the heap, whatever the kernels; in a JVM of its
 * own, as a node is: kernels of several widths in one spoil each other's types.
 */
class SearchAllocationTest {

  static List<String> kernels() {
    int bits = FloatVector.SPECIES_PREFERRED.vectorBitSize();
    List<String> all = List.of("scalar", "vector-128", "vector-256", "vector-512");
    return all.subList(0, bits >= 512 ? 4 : bits >= 256 ? 3 : 2);
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void a_search_allocates_nothing(String kernels) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--add-modules=jdk.incubator.vector",
            "-Dsagitta.kernels=" + kernels,
            "-cp",
            System.getProperty("java.class.path"),
            Searches.class.getName()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).contains("searched with " + kernels).doesNotContain("GARBAGE");
  }

  static final class Searches {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Searches() {}

    public static void main(String[] args) {
      SplittableRandom random = new SplittableRandom(1);
      for (int dimension : new int[] {100, 384}) {
        check(VectorType.FLOAT32, Metric.COSINE, dimension, Traversal.FOUR, false, random);
        check(VectorType.FLOAT32, Metric.L2, dimension, Traversal.EIGHT, false, random);
        check(VectorType.BINARY, Metric.HAMMING, dimension, Traversal.BITS, false, random);
      }
      check(VectorType.FLOAT32, Metric.COSINE, 100, Traversal.FOUR, true, random);
      System.out.println("searched with " + Scorer.kernels());
    }

    private static void check(
        VectorType type,
        Metric metric,
        int dimension,
        Traversal traversal,
        boolean neighbours,
        SplittableRandom random) {
      try (Arena arena = Arena.ofShared()) {
        TestData data =
            TestData.of(arena, type, metric, dimension, 2_000, TestData.Shape.CLUSTERED, random);
        try (VectorIndex index = TestIndexes.build(data)) {
          if (neighbours) {
            NeighbourCodesTest.codeNeighbours(index);
          }
          float[] query = data.vectors.getFirst();
          PreparedQuery exact = data.exact(query);
          CodeQuery coded = data.coded(query);
          ExactRows rows = data.exactRows();
          TopK heap = new TopK(10, metric, Long::compare);
          GraphSearcher searcher = new GraphSearcher();
          Effort effort = new Effort(64, 40, traversal);
          long[] accept = new long[TestIndexes.words(2_000)];
          Arrays.fill(accept, 0x5555_5555_5555_5555L);
          for (long[] bits : new long[][] {null, accept}) {
            long bytes =
                leastAllocated(
                    () -> {
                      coded.set(query, 0);
                      heap.clear();
                      searcher.search(
                          index,
                          rows,
                          exact,
                          coded,
                          effort,
                          bits,
                          2_000,
                          Long.MAX_VALUE,
                          StopCheck.NEVER,
                          heap,
                          0);
                    });
            if (bytes > 0) {
              System.out.println(
                  "GARBAGE: %s %s %d masked %b: %d bytes"
                      .formatted(metric, traversal, dimension, bits != null, bytes));
            }
          }
        }
      }
    }

    /** The interpreter and C1 put vectors on the heap; C2 must not, once it has compiled. */
    private static long leastAllocated(Runnable search) {
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 3_000 && least > 0; round++) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 20; i++) {
          search.run();
        }
        least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      }
      return least;
    }
  }
}
