// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.ops.bench.process.ClusterException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Runs programs of the machine: npm, python, taskset. */
final class Tool {
  private Tool() {}

  /**
   * Runs a program to its end; what it prints goes to the log.
   *
   * @throws ClusterException the program is missing or fails, with what it printed last
   */
  static void run(List<String> command, Path folder, PrintStream log) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .start();
      String last = "";
      try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
        for (String line; (line = lines.readLine()) != null; ) {
          log.println("  " + line);
          last = line.isBlank() ? last : line;
        }
      }
      int code = process.waitFor();
      if (code != 0) {
        throw new ClusterException(
            String.join(" ", command) + " failed with " + code + ": " + last);
      }
    } catch (IOException e) {
      throw new ClusterException(command.getFirst() + " does not run: " + e.getMessage(), e);
    }
  }
}
