// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rules that the kernels' speed and sameness rest on. */
class KernelDisciplineTest {

  @Test
  void no_float_reduction_of_unspecified_order() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Scorer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<String> offenders = new ArrayList<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        for (MethodModel method : ClassFile.of().parse(file).methods()) {
          if (reducesFloats(method)) {
            offenders.add(file.getFileName() + " " + method.methodName().stringValue());
          }
        }
      }
    }
    assertThat(offenders)
        .as("write the tree out, as Kernels512 does: reduceLanes on floats has no fixed order")
        .isEmpty();
  }

  private static boolean reducesFloats(MethodModel method) {
    return method.code().stream()
        .flatMap(code -> code.elementStream())
        .anyMatch(
            element ->
                element instanceof InvokeInstruction call
                    && call.name().stringValue().startsWith("reduceLanes")
                    && call.owner().asInternalName().matches(".*/(Float|Double)Vector"));
  }

  static List<String> nativeKernels() {
    return TestVectors.nativeKernels().stream().map(RowKernels::name).toList();
  }

  /**
   * In a JVM of its own, as a node is: kernels of several widths in one spoil each other's types.
   */
  @ParameterizedTest
  @MethodSource("nativeKernels")
  void scoring_allocates_nothing(String kernels) throws Exception {
    String said =
        run(
            ScoringAllocates.class,
            "--add-modules=jdk.incubator.vector",
            "-D" + KernelChoice.PROPERTY + "=" + kernels);
    assertThat(said).contains("scored with " + kernels).doesNotContain("GARBAGE");
  }

  /**
   * What C2 meets now and then on a busy machine, every time: it has not profiled what it compiles,
   * and has seen the Vector API's methods deoptimised more often than it puts up with. A kernel
   * that calls something on a loop's sum fails here in every JVM. Unpacking a row as a query, which
   * only building a graph does, leaves a few hundred bytes a call here and is not looked at.
   */
  @ParameterizedTest
  @MethodSource("nativeKernels")
  void scoring_allocates_nothing_where_c2_trusts_no_profile(String kernels) throws Exception {
    String said =
        run(
            ScoringAllocates.class,
            "--add-modules=jdk.incubator.vector",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:TypeProfileLevel=0",
            "-XX:-UseTypeSpeculation",
            "-XX:PerMethodTrapLimit=0",
            "-D" + ScoringAllocates.SCORING_ONLY + "=true",
            "-D" + KernelChoice.PROPERTY + "=" + kernels);
    assertThat(said).contains("scored with " + kernels).doesNotContain("GARBAGE");
  }

  static final class ScoringAllocates {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Whether to leave out what searches do not do. */
    static final String SCORING_ONLY = "sagitta.test.scoring-only";

    /** Codes of one block, of three, and of several chunks of blocks, the last not whole. */
    private static final int[] CODE_DIMENSIONS = {100, 384, 1_200};

    private ScoringAllocates() {}

    public static void main(String[] args) {
      SplittableRandom random = new SplittableRandom(1);
      float[] out = new float[512];
      try (Arena arena = Arena.ofConfined()) {
        for (VectorType type : VectorType.values()) {
          List<float[]> vectors = TestVectors.randomVectors(type, 100, 512, random);
          vectors.forEach(v -> v[0] = 1);
          VectorRows rows = TestVectors.rows(arena, type, vectors, 0, 0, 0);
          for (Metric metric : TestVectors.metrics(type)) {
            PreparedQuery query = TestVectors.query(type, metric, vectors.getFirst());
            long bytes = leastAllocated(() -> Scorer.score(query, rows, 0, 512, out, 0));
            if (bytes > 0) {
              System.out.println("GARBAGE: " + metric + " over " + type + ": " + bytes + " bytes");
            }
          }
        }
        for (int dimension : CODE_DIMENSIONS) {
          codes(arena, dimension, random, out);
        }
      }
      System.out.println("scored with " + Scorer.kernels());
    }

    private static void codes(Arena arena, int dimension, SplittableRandom random, float[] out) {
      int count = 32;
      int[] ordinals = IntStream.range(0, count).toArray();
      CodeLayout nibbles = new CodeLayout(dimension, false);
      CodeRows rows =
          new CodeRows(nibbles, count, room(arena, nibbles, count), room(arena, nibbles, count));
      List<float[]> vectors =
          TestVectors.randomVectors(VectorType.FLOAT32, dimension, count, random);
      for (int row = 0; row < count; row++) {
        rows.encode(row, vectors.get(row), 1);
      }
      QueryPlanes query = new QueryPlanes(nibbles);
      query.set(vectors.getFirst(), 1, 1, 1);
      check("4 bits", dimension, () -> CodeScorer.four(rows, query, ordinals, count, out));
      check("8 bits", dimension, () -> CodeScorer.eight(rows, query, ordinals, count, out));
      if (!Boolean.getBoolean(SCORING_ONLY)) {
        check("row as query", dimension, () -> query.setRow(rows, 1, 1, 1, 1, 1));
      }

      CodeLayout bits = new CodeLayout(dimension, true);
      CodeRows bitRows = new CodeRows(bits, count, room(arena, bits, count), null);
      QueryPlanes bitQuery = new QueryPlanes(bits);
      bitQuery.setBitRow(bitRows, 1);
      check("bits", dimension, () -> CodeScorer.bits(bitRows, bitQuery, ordinals, count, out));

      float[] values = new float[Integer.highestOneBit(dimension)];
      check("transform", dimension, () -> CodeScorer.KERNELS.hadamard(values, 0, values.length));
    }

    private static MemorySegment room(Arena arena, CodeLayout layout, int count) {
      return arena.allocate((long) count * layout.stride(), 64);
    }

    private static void check(String what, int dimension, Runnable work) {
      long bytes = leastAllocated(work);
      if (bytes > 0) {
        System.out.println("GARBAGE: %s at %d: %d bytes".formatted(what, dimension, bytes));
      }
    }

    /** The interpreter and C1 put vectors on the heap; C2 must not, once it has compiled. */
    private static long leastAllocated(Runnable scan) {
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 5_000 && least > 0; round++) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 20; i++) {
          scan.run();
        }
        least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
      }
      return least;
    }
  }

  @Test
  void a_jvm_without_the_vector_module_scores_the_same_with_scalar_kernels() throws Exception {
    String said = run(WithoutVectorModule.class);
    assertThat(said).contains("kernels=scalar").contains("bits=" + WithoutVectorModule.bits());
    assertThat(said.lines().filter(line -> line.contains("WARN") && line.contains("scalar")))
        .as(said)
        .hasSize(1);
  }

  static final class WithoutVectorModule {
    private WithoutVectorModule() {}

    public static void main(String[] args) {
      System.out.println("kernels=" + Scorer.kernels() + " bits=" + bits());
    }

    static int bits() {
      float[] vector = new float[100];
      for (int i = 0; i < vector.length; i++) {
        vector[i] = (float) Math.sqrt(i) - 5;
      }
      try (Arena arena = Arena.ofConfined()) {
        VectorRows rows = VectorRows.packed(VectorType.FLOAT32, 100, 1, copy(arena, vector));
        float[] out = new float[1];
        Scorer.score(
            PreparedQuery.of(VectorType.FLOAT32, Metric.DOT, 100, vector, 0), rows, 0, 1, out, 0);
        return Float.floatToRawIntBits(out[0]);
      }
    }

    /** Not through {@link TestVectors}, which loads the vector kernels. Room for whole blocks. */
    private static MemorySegment copy(Arena arena, float[] vector) {
      MemorySegment memory = arena.allocate(512, 4);
      MemorySegment.copy(vector, 0, memory, ValueLayout.JAVA_FLOAT, 0, vector.length);
      return memory;
    }
  }

  private static String run(Class<?> main, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(Arrays.asList(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }
}
