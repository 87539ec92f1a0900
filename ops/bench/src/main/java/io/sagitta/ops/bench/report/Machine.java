// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The machine that figures hold for. */
public final class Machine {
  private static final Path CPUINFO = Path.of("/proc/cpuinfo");

  private Machine() {}

  /** Model of the CPU and its widest vector instructions. */
  public static String cpu() {
    String model = cpuinfo("model name");
    if (model.isEmpty()) {
      return System.getProperty("os.arch") + " (unknown model)";
    }
    String flags = " " + cpuinfo("flags") + " ";
    String vectors =
        flags.contains(" avx512f ") ? "AVX-512" : flags.contains(" avx2 ") ? "AVX2" : "no AVX2";
    return model + " (" + vectors + ")";
  }

  public static int cpus() {
    return Runtime.getRuntime().availableProcessors();
  }

  private static String cpuinfo(String key) {
    try (Stream<String> lines = Files.lines(CPUINFO)) {
      return lines
          .filter(line -> line.startsWith(key))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }
}
