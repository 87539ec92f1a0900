// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The network between nodes, held by this process so that it can fail without privileges. Each node
 * knows the others by names that its own JVM resolves ({@code jdk.net.hosts.file}) to addresses of
 * this process, one for each ordered pair of nodes; connections are passed on from there. Clients
 * reach every node directly.
 *
 * <p>A cut link drops nothing and resets nothing: bytes wait, as they do in a network that has lost
 * its route, and flow again when it heals.
 */
public final class PeerNetwork implements AutoCloseable {
  private static final String DOMAIN = ".sagitta.test";

  private final List<NodeSettings> nodes = new ArrayList<>();
  private final Map<String, List<PeerLink>> links = new HashMap<>();

  static String hostName(String node) {
    return node + DOMAIN;
  }

  /** 127.1.from.to: any address of 127/8 is this machine. */
  private static String address(String from, String to) {
    return "127.1." + number(from) + "." + number(to);
  }

  private static int number(String node) {
    return Integer.parseInt(node.substring(1));
  }

  /** System properties by which the node of this name finds the others. */
  Map<String, String> properties(String node, Path workFolder) {
    return Map.of("jdk.net.hosts.file", workFolder.resolve("hosts").toString());
  }

  /** Joins a node to the network, before it is started. */
  synchronized void add(NodeSettings node) {
    for (NodeSettings other : nodes) {
      connect(other, node);
      connect(node, other);
    }
    nodes.add(node);
    nodes.forEach(this::writeHosts);
  }

  private void connect(NodeSettings from, NodeSettings to) {
    List<PeerLink> ports = new ArrayList<>();
    for (int port : to.peerPorts()) {
      ports.add(PeerLink.open(address(from.name(), to.name()), NodeSettings.HOST, port));
    }
    links.put(key(from.name(), to.name()), ports);
  }

  private static String key(String from, String to) {
    return from + ">" + to;
  }

  /** Names of nodes that may yet join are there too: a JVM reads this file once. */
  private void writeHosts(NodeSettings node) {
    StringBuilder hosts = new StringBuilder("127.0.0.1 localhost\n");
    for (int other = 1; other <= NODES_MAX; other++) {
      String name = "n" + other;
      String address = name.equals(node.name()) ? NodeSettings.HOST : address(node.name(), name);
      hosts.append(address).append(' ').append(hostName(name)).append('\n');
    }
    try {
      Files.createDirectories(node.workFolder());
      Files.writeString(node.workFolder().resolve("hosts"), hosts);
    } catch (IOException e) {
      throw new UncheckedIOException("the hosts file of " + node.name(), e);
    }
  }

  private static final int NODES_MAX = 9;

  /** Takes a node away from all others; clients still reach it. */
  public synchronized void cutOff(String node) {
    set(node, true);
  }

  /** Gives it back. */
  public synchronized void heal(String node) {
    set(node, false);
  }

  /** Cuts or heals one direction of connections: those that {@code from} opens to {@code to}. */
  public synchronized void setCut(String from, String to, boolean cut) {
    links.get(key(from, to)).forEach(link -> link.setCut(cut));
  }

  private void set(String node, boolean cut) {
    for (NodeSettings other : nodes) {
      if (!other.name().equals(node)) {
        setCut(node, other.name(), cut);
        setCut(other.name(), node, cut);
      }
    }
  }

  @Override
  public synchronized void close() {
    links.values().forEach(ports -> ports.forEach(PeerLink::close));
    links.clear();
  }
}
