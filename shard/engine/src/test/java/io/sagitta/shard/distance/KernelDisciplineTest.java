// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.Metric;
import io.sagitta.model.VectorType;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules that the kernels' speed and sameness rest on. */
class KernelDisciplineTest {

  @Test
  void no_float_reduction_of_unspecified_order() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Scorer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<String> offenders = new ArrayList<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        for (var method : ClassFile.of().parse(file).methods()) {
          method
              .code()
              .ifPresent(
                  code ->
                      code.forEach(
                          element -> {
                            if (element instanceof InvokeInstruction call
                                && call.name().stringValue().startsWith("reduceLanes")
                                && call.owner()
                                    .asInternalName()
                                    .matches(".*/(Float|Double)Vector")) {
                              offenders.add(file + " " + method.methodName());
                            }
                          }));
        }
      }
    }
    assertThat(offenders)
        .as("write the tree out, as Kernels512.sum does: reduceLanes on floats has no fixed order")
        .isEmpty();
  }

  @Test
  void a_jvm_without_the_vector_module_scores_the_same_with_scalar_kernels()
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                WithoutVectorModule.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).contains("kernels=scalar").contains("bits=" + WithoutVectorModule.bits());
    assertThat(said.lines().filter(line -> line.contains("WARN") && line.contains("scalar")))
        .as(said)
        .hasSize(1);
  }

  /** Runs in a JVM of its own. */
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
}
