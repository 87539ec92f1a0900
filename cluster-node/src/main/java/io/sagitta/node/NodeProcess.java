// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.node.http.Health;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node as a process: starts it, says on standard output when it is ready, and stops it when the
 * process is told to end.
 */
final class NodeProcess {
  private static final Logger log = LoggerFactory.getLogger(NodeProcess.class);

  /** Standard output's line once the node is a member begins with this; its name follows. */
  static final String JOINED = "joined ";

  /** Standard output's line once the node is ready begins with this; its name follows. */
  static final String READY = "ready ";

  /** For a start that was told to end; nobody relies on a node that never served. */
  private static final long END_START_MS = 5_000;

  private static final long LOOK_MS = 50;

  /** For handing over leaders, closing Raft and the shards, and memory. */
  private static final long BEYOND_DRAIN_MS = 30_000;

  private final NodeConfig config;
  private final String version;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final AtomicReference<Thread> starting = new AtomicReference<>();
  private volatile int exitCode = NodeMain.FAILED;

  NodeProcess(NodeConfig config, String version) {
    this.config = config;
    this.version = version;
  }

  /**
   * Runs until told to end.
   *
   * @param led whether the process that started this one leads it by standard input: the first line
   *     says go, the end says stop
   * @return the exit code
   */
  int run(boolean led) throws IOException, InterruptedException {
    NodeLog.start(config.dataDir().resolve("log"), config.limits().logFileBytes());
    Runtime.getRuntime().addShutdownHook(NodeThreads.unstarted("stop", this::stopAndWait));
    if (led) {
      awaitGo();
      NodeThreads.loop("stdin", this::awaitEndOfInput);
    }
    log.info(
        "Sagitta {}, Java {}, process {}",
        version,
        Runtime.version(),
        ProcessHandle.current().pid());
    try {
      Node node = start();
      System.out.println(JOINED + node.name());
      int code = watch(node);
      node.close();
      exitCode = code == 0 && node.closeFailure().isPresent() ? NodeMain.FAILED : code;
      return exitCode;
    } catch (IOException | RuntimeException e) {
      if (stop.getCount() == 0) {
        log.info("Told to stop before the node had started");
        exitCode = 0;
        return exitCode;
      }
      exitCode = NodeMain.exitCode(e);
      log.error("Could not start", e);
      throw e;
    } finally {
      NodeLog.stop();
      stopped.countDown();
    }
  }

  private Node start() throws IOException {
    starting.set(Thread.currentThread());
    try {
      if (stop.getCount() == 0) {
        throw new InterruptedIOException("told to stop");
      }
      return Node.start(config, version);
    } finally {
      starting.set(null);
      Thread.interrupted();
    }
  }

  /** From any thread: the node stops, also one that has not started yet. */
  private void stop() {
    stop.countDown();
    Thread starter = starting.get();
    if (starter != null) {
      starter.interrupt();
    }
  }

  private int watch(Node node) throws InterruptedException {
    List<String> said = List.of();
    boolean ready = false;
    while (!stop.await(LOOK_MS, TimeUnit.MILLISECONDS)) {
      if (node.failure().isPresent()) {
        log.error("{}: the process ends with code {}", node.failure().get(), NodeMain.RAFT_ENDED);
        return NodeMain.RAFT_ENDED;
      }
      Health health = node.health();
      if (health.ready() && !ready) {
        ready = true;
        log.info("{} is ready", node.name());
        System.out.println(READY + node.name());
      } else if (!health.ready() && !health.causes().equals(said)) {
        log.info("Not ready: {}", String.join("; ", health.causes()));
      }
      said = health.causes();
    }
    return 0;
  }

  /**
   * Runs as the JVM's shutdown hook. After a signal the process ends with this node's own exit
   * code, so that a clean stop is a success to whoever sent it.
   */
  private void stopAndWait() {
    boolean bySignal = stopped.getCount() > 0;
    stop();
    try {
      if (!stopped.await(patienceMs(), TimeUnit.MILLISECONDS)) {
        System.err.println("sagitta: the node did not stop in time, and is ended");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (bySignal) {
      Runtime.getRuntime().halt(exitCode);
    }
  }

  private long patienceMs() {
    return starting.get() != null ? END_START_MS : config.timeouts().drainMs() + BEYOND_DRAIN_MS;
  }

  private static void awaitGo() throws IOException {
    int read;
    do {
      read = System.in.read();
    } while (read >= 0 && read != '\n');
  }

  private void awaitEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is said on it; only its end counts.
      }
    } catch (IOException e) {
      log.debug("Standard input broke", e);
    }
    boolean wasStarting = starting.get() != null;
    stop();
    try {
      if (wasStarting && !stopped.await(END_START_MS, TimeUnit.MILLISECONDS)) {
        Runtime.getRuntime().halt(0);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
