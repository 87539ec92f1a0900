// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the distribution's launcher as a user does. */
final class Launcher {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Launcher() {}

  /** What a run left behind. */
  record Run(int code, String out, String err) {
    JsonNode json() {
      try {
        return MAPPER.readTree(out);
      } catch (JsonProcessingException e) {
        throw new AssertionError("not JSON: " + out + "\n" + err, e);
      }
    }
  }

  /** {@code ./sagitta ARGS}, to its end. */
  static Run run(Duration timeout, String... args) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("sagitta.home"), "sagitta").toString());
    command.addAll(List.of(args));
    return run(timeout, command);
  }

  /** Any command, to its end. */
  static Run run(Duration timeout, List<String> command) throws IOException, InterruptedException {
    Path out = Files.createTempFile("sagitta-out", ".txt");
    Path err = Files.createTempFile("sagitta-err", ".txt");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      if (!process.waitFor(timeout.toSeconds(), TimeUnit.SECONDS)) {
        process.destroy(); // its hooks take its nodes away
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
          process.destroyForcibly().waitFor();
        }
        throw new AssertionError(
            command + " did not end within " + timeout + "\n" + text(out) + text(err));
      }
      return new Run(process.exitValue(), text(out), text(err));
    } finally {
      Files.deleteIfExists(out);
      Files.deleteIfExists(err);
    }
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
