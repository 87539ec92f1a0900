// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.bench;

import io.sagitta.model.VectorType;
import java.util.List;
import java.util.Locale;
import jdk.incubator.vector.FloatVector;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Prints one line for each kernel, type, dimension and place of the rows: processor time, and of
 * the iterations the best, since other work on the machine only ever adds.
 */
public final class KernelTable {
  private KernelTable() {}

  /** Runs all; takes some three minutes. */
  public static void main(String[] args) throws RunnerException {
    System.out.printf(
        "%-12s %-9s %5s %-7s %8s %7s%n", "kernels", "type", "dim", "rows in", "ns/row", "GB/s");
    int bits = FloatVector.SPECIES_PREFERRED.vectorBitSize();
    for (String kernels : List.of("scalar", "vector-128", "vector-256", "vector-512")) {
      if (kernels.equals("scalar") || Integer.parseInt(kernels.substring(7)) <= bits) {
        print(kernels, run("canonical", kernels, "FLOAT32"));
      }
    }
    print("unordered", run("unordered", "", "FLOAT32"));
    print("chosen", run("canonical", "", "FLOAT16", "BFLOAT16", "INT8"));
  }

  private static Iterable<RunResult> run(String method, String kernels, String... types)
      throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(ScanBenchmark.class.getName() + "." + method + "$")
            .param("type", types)
            .warmupIterations(4)
            .warmupTime(TimeValue.milliseconds(500))
            .measurementIterations(8)
            .measurementTime(TimeValue.milliseconds(250))
            .forks(1)
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true)
            .jvmArgs("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED");
    if (!kernels.isEmpty()) {
      options.jvmArgsAppend("-Dsagitta.kernels=" + kernels);
    }
    return new Runner(options.build()).run();
  }

  private static void print(String kernels, Iterable<RunResult> results) {
    for (RunResult result : results) {
      int dim = Integer.parseInt(result.getParams().getParam("dim"));
      VectorType type = VectorType.valueOf(result.getParams().getParam("type"));
      double nanosPerRow = Double.MAX_VALUE;
      for (var benchmark : result.getBenchmarkResults()) {
        for (var iteration : benchmark.getIterationResults()) {
          var counters = iteration.getSecondaryResults();
          nanosPerRow =
              Math.min(
                  nanosPerRow,
                  counters.get("cpuNanos").getScore() / counters.get("rows").getScore());
        }
      }
      System.out.printf(
          Locale.ROOT,
          "%-12s %-9s %5d %-7s %8.2f %7.1f%n",
          kernels,
          type,
          dim,
          result.getParams().getParam("where"),
          nanosPerRow,
          type.bytes(dim) / nanosPerRow);
    }
  }
}
