// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.process.ClusterException;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that holds one contender: requests and answers are JSON lines on its streams. */
final class Worker implements AutoCloseable {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final int END_SECONDS = 10;
  private static final int SHOWN_ERROR_CHARACTERS = 2_000;

  private final String name;
  private final Process process;
  private final Path errors;
  private final BufferedWriter requests;
  private final BufferedReader answers;

  private Worker(String name, Process process, Path errors) {
    this.name = name;
    this.process = process;
    this.errors = errors;
    this.requests = process.outputWriter(StandardCharsets.UTF_8);
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Starts a worker.
   *
   * @param folder takes what the process prints besides its answers
   */
  static Worker start(String name, List<String> command, Path folder) throws IOException {
    Path errors = Files.createTempFile(folder, name + "-", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.to(errors.toFile()));
    return new Worker(name, builder.start(), errors);
  }

  /** A request to fill in. */
  static ObjectNode request(String operation) {
    return JSON.createObjectNode().put("op", operation);
  }

  /**
   * Asks and waits for the answer.
   *
   * @throws ClusterException the contender failed or its process ended
   */
  JsonNode ask(ObjectNode request) {
    try {
      requests.write(request.toString());
      requests.newLine();
      requests.flush();
      String line = answers.readLine();
      if (line == null) {
        throw new ClusterException(name + " ended: " + shownErrors());
      }
      JsonNode answer = JSON.readTree(line);
      if (answer.has("error")) {
        throw new ClusterException(name + ": " + answer.path("error").asText());
      }
      return answer;
    } catch (IOException e) {
      throw new ClusterException(name + " does not answer: " + shownErrors(), e);
    }
  }

  private String shownErrors() {
    try {
      String all = Files.readString(errors);
      return all.substring(Math.max(0, all.length() - SHOWN_ERROR_CHARACTERS)).strip();
    } catch (IOException e) {
      return "nothing was printed to " + errors;
    }
  }

  /** Binds every thread of the process to one CPU. */
  void pin(int cpu) throws InterruptedException {
    Tool.run(
        List.of("taskset", "-a", "-c", "-p", Integer.toString(cpu), Long.toString(process.pid())),
        Path.of("/"),
        new PrintStream(OutputStream.nullOutputStream()));
  }

  /** Proportional set size: resident memory, shared pages divided among those who share them. */
  long pssBytes() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/" + process.pid() + "/smaps_rollup"))) {
      String line =
          lines
              .filter(text -> text.startsWith("Pss:"))
              .findFirst()
              .orElseThrow(() -> new IOException("no Pss"));
      return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
    }
  }

  /** Ends the process: the end of its input tells it so, force where it does not listen. */
  @Override
  public void close() {
    try {
      requests.close();
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
