// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.model.Reason;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Membership;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Nodes of one cluster as child processes of this one, for one machine. The first founds the
 * cluster, the others join through it, the very way nodes of other machines do. They live as long
 * as this process holds their standard input open, so they end with it however it ends.
 */
final class LocalNodes {
  private static final String HOST = "127.0.0.1";
  private static final int PORTS_APART = 10;

  /** Beyond the time a node gives its calls to end. */
  private static final long STOP_SECONDS = 45;

  private static final int NODES_MAX = 16;

  private final List<Planned> planned;
  private final List<Child> children = new ArrayList<>();
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private volatile boolean stopping;
  private volatile boolean ended;

  private record Planned(
      int number, Path folder, Path config, NodeConfig.Ports ports, boolean isNew) {}

  private record Child(Planned node, Process process) {}

  /** What a child's reader saw. */
  private enum Seen {
    JOINED,
    READY,
    ENDED
  }

  private record Event(Child child, Seen seen) {}

  private LocalNodes(List<Planned> planned) {
    this.planned = planned;
  }

  /**
   * Plans the nodes and writes their configurations. What no node could be started with is refused
   * before anything is written, so that the configurations stay those of nodes that run.
   *
   * @param nodes how many; null: as many as the folder has, or one
   */
  static LocalNodes plan(Path data, Integer nodes, int basePort) throws IOException {
    Path root = data.toAbsolutePath().normalize();
    int existing = existing(root);
    int count = nodes == null ? Math.max(1, existing) : nodes;
    if (count < 1 || count > NODES_MAX) {
      throw new ConfigException("--nodes is " + count + ", expected 1.." + NODES_MAX);
    }
    if (count < existing) {
      throw new ConfigException(
          root
              + " holds the data of "
              + existing
              + " nodes, and --nodes is "
              + count
              + ": start them all, or use another --data folder");
    }
    int last = basePort + PORTS_APART * (count - 1) + 5;
    if (basePort < 1 || last > 65_535) {
      throw new ConfigException("--port is " + basePort + ", the ports would end at " + last);
    }
    List<Planned> planned = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      Path folder = root.resolve("n" + i);
      NodeConfig.Ports ports = NodeConfig.Ports.from(basePort + PORTS_APART * (i - 1));
      DataFolder.checkFree(folder);
      NodeIdentity.checkAddress(folder, new HostPort(HOST, ports.internal()), ports);
      planned.add(new Planned(i, folder, root.resolve("n" + i + ".yaml"), ports, i > existing));
    }
    Files.createDirectories(root);
    for (Planned node : planned) {
      writeIfOther(
          node.config(),
          "# Written by 'sagitta start' and overwritten by the next one.\n"
              + ConfigFile.localYaml(node.folder(), node.ports(), membership(node, planned)));
    }
    return new LocalNodes(planned);
  }

  private static Membership membership(Planned node, List<Planned> all) {
    return node.number() == 1
        ? new Membership.Bootstrap()
        : new Membership.Join(List.of(new HostPort(HOST, all.getFirst().ports().internal())));
  }

  /** Writes nothing where nothing changes, so that a full volume can be started from. */
  private static void writeIfOther(Path file, String text) throws IOException {
    if (!Files.exists(file) || !Files.readString(file).equals(text)) {
      Files.writeString(file, text);
    }
  }

  private static int existing(Path root) {
    int count = 0;
    while (Files.exists(root.resolve("n" + (count + 1)).resolve("identity"))) {
      count++;
    }
    return count;
  }

  /**
   * Starts all, tells when each is ready, stays until told to end.
   *
   * @return the exit code
   */
  int run() throws IOException, InterruptedException {
    try {
      return follow();
    } finally {
      ended = true;
    }
  }

  private int follow() throws IOException, InterruptedException {
    Runtime.getRuntime().addShutdownHook(NodeThreads.unstarted("stop", this::stopAll));
    for (Planned node : planned) {
      children.add(spawn(node));
    }
    letGo(0);
    int ready = 0;
    int gone = 0;
    while (gone < children.size()) {
      Event event = events.take();
      switch (event.seen()) {
        case JOINED -> letGo(event.child().node().number());
        case READY -> {
          System.out.println(line(event.child()));
          if (++ready == children.size()) {
            System.err.println(
                ready == 1
                    ? "The node is ready. Ctrl-C stops it."
                    : "All " + ready + " nodes are ready. Ctrl-C stops them.");
          }
        }
        case ENDED -> {
          gone++;
          if (!stopping) {
            int code = event.child().process().waitFor();
            System.err.println(ended(event.child(), code));
            if (ready < children.size()) {
              return code == 0 ? NodeMain.FAILED : code;
            }
          }
        }
      }
    }
    return stopping ? 0 : NodeMain.FAILED;
  }

  /**
   * Lets node {@code joined + 1} begin, and all after it up to the next new one. New ones join one
   * after the other, so that the cluster numbers them as their folders are; those that have joined
   * before begin together, since they may need each other's votes.
   */
  private void letGo(int joined) throws IOException {
    for (int i = joined; i < children.size(); i++) {
      if (i > joined && children.get(i).node().isNew()) {
        return;
      }
      OutputStream input = children.get(i).process().getOutputStream();
      input.write('\n');
      input.flush();
    }
  }

  private static String ended(Child child, int code) {
    return "sagitta: n"
        + child.node().number()
        + " ended with code "
        + code
        + "; its log is "
        + child.node().folder().resolve("log/node.log");
  }

  private static String line(Child child) {
    NodeConfig.Ports ports = child.node().ports();
    return "n%d  pid %d  flight %d  internal %d  http %d  ops %d  raft %d %d  data %s"
        .formatted(
            child.node().number(),
            child.process().pid(),
            ports.flight(),
            ports.internal(),
            ports.http(),
            ports.ops(),
            ports.metaRaft(),
            ports.shardRaft(),
            child.node().folder());
  }

  private Child spawn(Planned node) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    List<String> options = ManagementFactory.getRuntimeMXBean().getInputArguments();
    command.addAll(options);
    if (!options.contains(JvmFlags.KERNELS)) {
      command.add(JvmFlags.KERNELS);
    }
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(NodeMain.class.getName());
    command.add("node");
    command.add("--config");
    command.add(node.config().toString());
    command.add("--led");
    Child child = new Child(node, new ProcessBuilder(command).start());
    NodeThreads.loop("n" + node.number() + "-output", () -> follow(child));
    NodeThreads.loop("n" + node.number() + "-errors", () -> passOn(child));
    return child;
  }

  private void follow(Child child) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(child.process().getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(NodeProcess.JOINED)) {
          events.add(new Event(child, Seen.JOINED));
        } else if (line.startsWith(NodeProcess.READY)) {
          events.add(new Event(child, Seen.READY));
        }
      }
    } catch (IOException e) {
      System.err.println(
          "sagitta: lost the output of n" + child.node().number() + ": " + Reason.of(e));
    }
    events.add(new Event(child, Seen.ENDED));
  }

  /**
   * A child's errors go on to this process's, but for one line of the JVM that tells nobody
   * anything.
   */
  private static void passOn(Child child) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(child.process().getErrorStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.startsWith("WARNING: Using incubator modules")) {
          System.err.println(line);
        }
      }
    } catch (IOException e) {
      System.err.println(
          "sagitta: lost the errors of n" + child.node().number() + ": " + Reason.of(e));
    }
  }

  /** Asks every child to end by ending its input; after a while ends what is still there. */
  private void stopAll() {
    boolean bySignal = !ended;
    stopping = true;
    for (Child child : children) {
      try {
        child.process().getOutputStream().close();
      } catch (IOException e) {
        child.process().destroy();
      }
    }
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
    for (Child child : children) {
      try {
        if (!child.process().waitFor(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
          child.process().destroyForcibly();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        child.process().destroyForcibly();
      }
    }
    if (bySignal) {
      Runtime.getRuntime().halt(0);
    }
  }
}
