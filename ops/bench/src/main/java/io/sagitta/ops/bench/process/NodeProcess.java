// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One node that can be started, killed, paused and started again. Safe for several threads, though
 * who starts and who kills must agree among themselves.
 */
public final class NodeProcess {
  private static final Duration POLL = Duration.ofMillis(20);
  private static final Duration PROBE = Duration.ofSeconds(1);
  private static final int LAST_LINES = 15;

  private final NodeSettings settings;
  private final boolean led;
  private final HttpClient http;
  private Process process; // guarded by this
  private boolean paused; // guarded by this

  /**
   * A node, not started.
   *
   * @param led whether it ends when this JVM does, even of kill -9: it watches its standard input
   */
  NodeProcess(NodeSettings settings, boolean led, HttpClient http) {
    this.settings = settings;
    this.led = led;
    this.http = http;
  }

  public NodeSettings settings() {
    return settings;
  }

  public String name() {
    return settings.name();
  }

  public String endpoint() {
    return settings.endpoint();
  }

  /** What the process prints, over all its lives. */
  public Path console() {
    return settings.workFolder().resolve("console.log");
  }

  public synchronized long pid() {
    return process == null ? -1 : process.pid();
  }

  public synchronized boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Starts the process; it is not ready yet. */
  public synchronized void start() {
    if (process != null && process.isAlive()) {
      throw new IllegalStateException(name() + " is running");
    }
    try {
      Files.createDirectories(settings.workFolder());
      Path configuration = settings.workFolder().resolve("node.yaml");
      Files.writeString(configuration, settings.yaml());
      ProcessBuilder command =
          new ProcessBuilder(NodeCommand.of(settings, configuration, led))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(console().toFile()));
      if (!led) {
        command.redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
      }
      process = command.start();
      if (led) {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
      }
      paused = false;
    } catch (IOException e) {
      throw new UncheckedIOException("node " + name() + " cannot be started", e);
    }
  }

  /**
   * Waits until the node says that it is ready.
   *
   * @throws ClusterException when it ends or the time is over, with what it printed last
   */
  public void awaitReady(Duration timeout) throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    String cause = "no answer";
    while (true) {
      if (!isAlive()) {
        throw new ClusterException("node " + name() + " ended before it was ready" + lastLines());
      }
      Probe probe = probe("/readyz");
      if (probe.status() == 200) {
        return;
      }
      cause = probe.body().isEmpty() ? cause : probe.body().strip();
      if (System.nanoTime() > deadline) {
        throw new ClusterException(
            "node "
                + name()
                + " is not ready after "
                + timeout.toSeconds()
                + " s: "
                + cause
                + lastLines());
      }
      Thread.sleep(POLL);
    }
  }

  /** Whether the node says that it is ready now. */
  public boolean isReady() {
    return isAlive() && probe("/readyz").status() == 200;
  }

  /** The page of metrics; empty when the node does not answer. */
  public String metrics() {
    Probe probe = probe("/metrics");
    return probe.status() == 200 ? probe.body() : "";
  }

  /**
   * A figure on that page; empty where it is not there, or the node does not answer.
   *
   * @param name with its labels
   */
  public OptionalLong metric(String name) {
    return metric(metrics(), name);
  }

  /** The same of a page that was read before: figures of one moment. */
  public static OptionalLong metric(String page, String name) {
    String head = name + " ";
    return page.lines()
        .filter(line -> line.startsWith(head))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(head.length())))
        .findFirst();
  }

  /** Bytes that the running process has had read from disks, its mapped files' among them. */
  public long bytesRead() throws IOException {
    String counts = Files.readString(Path.of("/proc", Long.toString(pid()), "io"));
    return counts
        .lines()
        .filter(line -> line.startsWith("read_bytes: "))
        .mapToLong(line -> Long.parseLong(line.substring("read_bytes: ".length())))
        .findFirst()
        .orElseThrow(() -> new IOException("no read_bytes in " + counts));
  }

  private record Probe(int status, String body) {}

  private Probe probe(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://" + NodeSettings.HOST + ":" + settings.opsPort() + path))
            .timeout(PROBE)
            .build();
    try {
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      return new Probe(response.statusCode(), response.body());
    } catch (IOException e) {
      return new Probe(-1, "");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Probe(-1, "");
    }
  }

  /** kill -9, and waits until the process is gone. */
  public void kill() throws InterruptedException {
    Process victim = current();
    if (victim != null) {
      // A paused process dies of SIGKILL too.
      victim.destroyForcibly();
      victim.waitFor();
    }
  }

  /** Sends kill -9 and returns at once, so that several nodes can be killed at one moment. */
  void signalKill() {
    Process victim = current();
    if (victim != null) {
      victim.destroyForcibly();
    }
  }

  void awaitEnd() throws InterruptedException {
    Process victim = current();
    if (victim != null) {
      victim.waitFor();
    }
  }

  /** SIGSTOP: the process keeps its connections and answers nothing. */
  public synchronized void pause() {
    signal("STOP");
    paused = true;
  }

  /** SIGCONT. */
  public synchronized void resume() {
    signal("CONT");
    paused = false;
  }

  /** SIGTERM, and kill -9 where that does not end it in time; the answer is whether it did. */
  public boolean stop(Duration timeout) throws InterruptedException {
    Process victim;
    synchronized (this) {
      victim = process;
      if (victim == null) {
        return true;
      }
      if (paused && victim.isAlive()) {
        resume();
      }
    }
    victim.destroy();
    if (victim.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
      return true;
    }
    victim.destroyForcibly();
    victim.waitFor();
    return false;
  }

  private synchronized Process current() {
    return process;
  }

  private void signal(String name) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
              .redirectErrorStream(true)
              .start();
      if (kill.waitFor() != 0) {
        throw new ClusterException(
            "kill -"
                + name
                + ": "
                + new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("kill -" + name, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted in kill -" + name);
    }
  }

  /** What it printed last, to end a message with. */
  public String lastLines() {
    try (Stream<String> lines = Files.lines(console())) {
      List<String> all = lines.toList();
      return "; it printed last ("
          + console()
          + "):\n  "
          + String.join("\n  ", all.subList(Math.max(0, all.size() - LAST_LINES), all.size()));
    } catch (IOException | UncheckedIOException e) {
      return "; " + console() + " cannot be read";
    }
  }
}
