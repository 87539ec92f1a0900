// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Nodes of one cluster as processes of their own. The first founds the cluster, the others join it.
 *
 * <p>Closing it ends all processes and removes the work folder; so does the end of this JVM. A run
 * that failed calls {@link #keepFiles} first, and one that leaves its cluster running {@link
 * #detach}.
 */
public final class ClusterProcesses implements AutoCloseable {
  /** Tells a node that hangs from a machine that has other things to do. */
  private static final Duration READY = Duration.ofMinutes(4);

  private static final Duration STOP = Duration.ofSeconds(30);

  private final Plan plan;
  private final Path workFolder;
  private final HttpClient http;
  private final Thread hook;
  private final Optional<PeerNetwork> network;

  // Guarded by this.
  private final Map<String, NodeProcess> nodes = new LinkedHashMap<>();
  private boolean keepFiles;
  private boolean detached;
  private boolean closed;

  /**
   * What bounds the memory of a node.
   *
   * @param heap as -Xmx takes it
   * @param group in which the node runs
   */
  public record Memory(String heap, Optional<MemoryGroup> group) {
    /** The launcher's. */
    static final Memory USUAL =
        new Memory(System.getenv().getOrDefault("SAGITTA_HEAP", "1g"), Optional.empty());
  }

  /**
   * What kind of cluster.
   *
   * @param folder where everything goes; it is made, and removed when the cluster is closed
   * @param firstPort the first node's first port, the others' count on by tens; 0: any that are
   *     free
   * @param dataFolder where a node's data goes, by its name
   * @param settings further keys of every node's configuration, dotted
   * @param properties system properties of every node's JVM
   * @param throughNetwork whether nodes reach each other through a {@link PeerNetwork}
   * @param detachable whether nodes can outlive this process, see {@link #detach}
   * @param memory what bounds the memory of each node
   */
  public record Plan(
      Path folder,
      int firstPort,
      Function<String, Path> dataFolder,
      Map<String, String> settings,
      Map<String, String> properties,
      boolean throughNetwork,
      boolean detachable,
      Memory memory) {

    /** Nodes with all defaults, on free ports, everything in {@code folder}. */
    public static Plan in(Path folder) {
      return new Plan(
          folder,
          0,
          name -> folder.resolve(name).resolve("data"),
          Map.of(),
          Map.of(),
          false,
          false,
          Memory.USUAL);
    }

    public Plan withFirstPort(int port) {
      return new Plan(
          folder, port, dataFolder, settings, properties, throughNetwork, detachable, memory);
    }

    public Plan withDataFolders(Function<String, Path> folders) {
      return new Plan(
          folder, firstPort, folders, settings, properties, throughNetwork, detachable, memory);
    }

    public Plan withSettings(Map<String, String> more) {
      return new Plan(
          folder, firstPort, dataFolder, more, properties, throughNetwork, detachable, memory);
    }

    public Plan withProperties(Map<String, String> more) {
      return new Plan(
          folder, firstPort, dataFolder, settings, more, throughNetwork, detachable, memory);
    }

    public Plan withDetachableNodes() {
      return new Plan(
          folder, firstPort, dataFolder, settings, properties, throughNetwork, true, memory);
    }

    public Plan withNetwork() {
      return new Plan(
          folder, firstPort, dataFolder, settings, properties, true, detachable, memory);
    }

    public Plan withMemory(Memory bounded) {
      return new Plan(
          folder, firstPort, dataFolder, settings, properties, throughNetwork, detachable, bounded);
    }
  }

  private ClusterProcesses(Plan plan) {
    this.plan = plan;
    this.workFolder = plan.folder();
    this.http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();
    this.network = plan.throughNetwork() ? Optional.of(new PeerNetwork()) : Optional.empty();
    this.hook = new Thread(this::closeQuietly, "cluster-cleanup");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** A folder of its own for a run. */
  public static Path temporaryFolder(String what) {
    try {
      return Files.createTempDirectory("sagitta-" + what + "-");
    } catch (IOException e) {
      throw new UncheckedIOException("no temporary folder", e);
    }
  }

  /** Whether the ports that {@code start} uses by default are free for {@code n} nodes. */
  public static boolean portsFree(int firstPort, int n) {
    for (int i = 0; i < n; i++) {
      if (!FreePorts.areFree(firstPort + 10 * i, NodeSettings.PORTS)) {
        return false;
      }
    }
    return true;
  }

  /** Starts {@code n} nodes and waits until all are ready. */
  public static ClusterProcesses start(Plan plan, int n) throws InterruptedException {
    ClusterProcesses cluster = new ClusterProcesses(plan);
    try {
      for (int i = 0; i < n; i++) {
        cluster.add(UnaryOperator.identity()).start();
        if (i == 0) {
          // The founder must exist before anybody can join it.
          cluster.nodes().getFirst().awaitReady(READY);
        }
      }
      cluster.awaitReady();
      return cluster;
    } catch (RuntimeException | InterruptedException e) {
      cluster.keepFiles();
      cluster.close();
      throw e;
    }
  }

  /** Adds a node of the next name without starting it. */
  public NodeProcess add(UnaryOperator<NodeSettings> change) {
    synchronized (this) {
      String name = "n" + (nodes.size() + 1);
      NodeProcess node = new NodeProcess(change.apply(settings(name)), !plan.detachable(), http);
      nodes.put(name, node);
      network.ifPresent(net -> net.add(node.settings()));
      return node;
    }
  }

  private NodeSettings settings(String name) {
    int ports =
        plan.firstPort() == 0
            ? FreePorts.row(NodeSettings.PORTS, new SplittableRandom())
            : plan.firstPort() + 10 * nodes.size();
    List<String> members =
        nodes.values().stream()
            .map(NodeProcess::settings)
            .map(s -> s.advertisedHost() + ":" + s.internalPort())
            .toList();
    Map<String, String> properties = new LinkedHashMap<>(plan.properties());
    network.ifPresent(net -> properties.putAll(net.properties(name, workFolder.resolve(name))));
    return new NodeSettings(
        name,
        plan.dataFolder().apply(name),
        workFolder.resolve(name),
        ports,
        network.isPresent() ? PeerNetwork.hostName(name) : NodeSettings.HOST,
        members,
        plan.settings(),
        properties,
        plan.memory().heap(),
        plan.memory().group());
  }

  /** All nodes by their order, running or not. */
  public synchronized List<NodeProcess> nodes() {
    return List.copyOf(nodes.values());
  }

  /** The node of this name. */
  public synchronized NodeProcess node(String name) {
    return Optional.ofNullable(nodes.get(name))
        .orElseThrow(() -> new IllegalArgumentException("no node " + name));
  }

  /** Flight endpoints of all nodes. */
  public List<String> endpoints() {
    return nodes().stream().map(NodeProcess::endpoint).toList();
  }

  /** The network between nodes, where there is one of ours. */
  public PeerNetwork network() {
    return network.orElseThrow(() -> new IllegalStateException("nodes talk directly"));
  }

  /** Waits until every running node is ready. */
  public void awaitReady() throws InterruptedException {
    for (NodeProcess node : nodes()) {
      if (node.isAlive()) {
        node.awaitReady(READY);
      }
    }
  }

  /** kill -9 of several nodes at one moment; returns when they are gone. */
  public static void kill(Collection<NodeProcess> victims) throws InterruptedException {
    victims.forEach(NodeProcess::signalKill);
    for (NodeProcess victim : victims) {
      victim.awaitEnd();
    }
  }

  /** Starts every node that does not run and waits until all are ready. */
  public void restart() throws InterruptedException {
    for (NodeProcess node : nodes()) {
      if (!node.isAlive()) {
        node.start();
      }
    }
    awaitReady();
  }

  /** kill -9 of all. */
  public void killAll() throws InterruptedException {
    kill(nodes());
  }

  /** Ends all nodes as an operator would; they can be started again. */
  public void stop() throws InterruptedException {
    for (NodeProcess node : nodes()) {
      node.stop(STOP);
    }
  }

  /** The work folder stays when the cluster is closed, so that logs and data can be read. */
  public synchronized Path keepFiles() {
    keepFiles = true;
    return workFolder;
  }

  /** From now on nodes and files live on when this process ends. */
  public synchronized void detach() {
    if (!plan.detachable()) {
      throw new IllegalStateException("these nodes end with this process");
    }
    detached = true;
    keepFiles = true;
    Runtime.getRuntime().removeShutdownHook(hook);
  }

  private void closeQuietly() {
    shutDown();
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the JVM is ending: the hook does it
    }
    shutDown();
  }

  private synchronized void shutDown() {
    if (closed || detached) {
      return;
    }
    closed = true;
    // Nobody waits for a cluster that is thrown away: no orderly end.
    nodes.values().forEach(NodeProcess::signalKill);
    for (NodeProcess node : nodes.values()) {
      try {
        node.awaitEnd();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    network.ifPresent(PeerNetwork::close);
    http.close();
    if (!keepFiles) {
      delete(workFolder);
    }
  }

  /** Removes a folder and all in it. */
  public static void delete(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      System.err.println(folder + " could not be removed: " + e.getMessage());
    }
  }
}
