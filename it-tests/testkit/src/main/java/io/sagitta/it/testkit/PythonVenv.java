// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.testkit;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A Python environment with what a requirements file pins, made once per checkout under {@code
 * target/python} and shared by all modules' tests. Where there is no Python, or its packages cannot
 * be had, a test is skipped and says so; with {@code CI=true} in the environment it fails instead.
 */
public final class PythonVenv {
  private static final Duration INSTALL_TIMEOUT = Duration.ofMinutes(5);

  private final Path python;

  private PythonVenv(Path python) {
    this.python = python;
  }

  /**
   * The environment for these requirements.
   *
   * @param requirements a pip requirements file with every version pinned
   */
  public static PythonVenv create(Path requirements) {
    try {
      Path home = root().resolve("target").resolve("python");
      Files.createDirectories(home);
      Path lockFile = home.resolve("lock");
      try (FileChannel channel =
              FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        return install(requirements, home);
      }
    } catch (IOException e) {
      throw unavailable("no Python environment: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted while Python's packages were installed", e);
    }
  }

  private static PythonVenv install(Path requirements, Path home)
      throws IOException, InterruptedException {
    Path venv = home.resolve("venv");
    Path python = venv.resolve("bin").resolve("python");
    Path marker = venv.resolve("installed.txt");
    String wanted = Files.readString(requirements);
    if (Files.exists(marker) && Files.readString(marker).equals(wanted)) {
      return new PythonVenv(python);
    }
    require(home, List.of("python3", "-m", "venv", "--clear", venv.toString()));
    require(
        home,
        List.of(
            python.toString(),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            requirements.toAbsolutePath().toString()));
    Files.writeString(marker, wanted);
    return new PythonVenv(python);
  }

  private static void require(Path folder, List<String> command)
      throws IOException, InterruptedException {
    Result result = execute(folder, command, Map.of(), INSTALL_TIMEOUT);
    if (result.exitCode() != 0) {
      throw new IOException(String.join(" ", command) + " failed:\n" + result.output());
    }
  }

  private static RuntimeException unavailable(String message, Exception cause) {
    if (Boolean.parseBoolean(System.getenv("CI"))) {
      return new IllegalStateException(message, cause);
    }
    System.err.println("SKIPPED, pyarrow is not tested: " + message);
    Assumptions.abort(message);
    return new IllegalStateException("not reached", cause);
  }

  /** The checkout's root: the folder that has mvnw. */
  private static Path root() throws IOException {
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.exists(folder.resolve("mvnw"))) {
        return folder;
      }
    }
    throw new IOException("no mvnw above " + Path.of("").toAbsolutePath());
  }

  /** How a process ended, and all it printed. */
  public record Result(int exitCode, String output) {}

  /**
   * Runs a script and waits for it.
   *
   * @param arguments the script and its arguments
   * @param environment what to add to this process's environment
   */
  public Result run(
      Path folder, List<String> arguments, Map<String, String> environment, Duration timeout)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(python.toString());
    command.addAll(arguments);
    return execute(folder, command, environment, timeout);
  }

  private static Result execute(
      Path folder, List<String> command, Map<String, String> environment, Duration timeout)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("python", ".out");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly().waitFor();
        return new Result(
            -1, Files.readString(output) + "\nended after " + timeout.toSeconds() + " s");
      }
      return new Result(process.exitValue(), Files.readString(output));
    } finally {
      Files.deleteIfExists(output);
    }
  }
}
