// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One node to be started.
 *
 * @param name what messages and folders call it: n1, n2, ...
 * @param dataFolder its data folder
 * @param workFolder where its configuration and what it prints go
 * @param ports its six ports, in a row from the first
 * @param advertisedHost name at which the others reach it
 * @param members internal addresses to join through; empty: it founds the cluster
 * @param settings further keys of its configuration, dotted: {@code timeouts.meta_election_ms}
 * @param properties system properties of its JVM
 * @param heap its heap, as -Xmx takes it
 * @param group the control group in which it runs
 */
public record NodeSettings(
    String name,
    Path dataFolder,
    Path workFolder,
    int ports,
    String advertisedHost,
    List<String> members,
    Map<String, String> settings,
    Map<String, String> properties,
    String heap,
    Optional<MemoryGroup> group) {
  /** Ports of a node, in a row. */
  static final int PORTS = 6;

  /** Address on which every node listens. */
  static final String HOST = "127.0.0.1";

  public NodeSettings {
    members = List.copyOf(members);
    settings = Map.copyOf(settings);
    properties = Map.copyOf(properties);
  }

  /** Public Flight, as {@code host:port}. */
  public String endpoint() {
    return HOST + ":" + ports;
  }

  int flightPort() {
    return ports;
  }

  int internalPort() {
    return ports + 1;
  }

  /** Port of {@code /readyz} and {@code /metrics}. */
  public int opsPort() {
    return ports + 3;
  }

  /** The ports over which nodes talk to each other. */
  List<Integer> peerPorts() {
    return List.of(ports + 1, ports + 4, ports + 5);
  }

  /** The configuration file. */
  String yaml() {
    StringBuilder yaml = new StringBuilder();
    line(yaml, "", "data_dir", quoted(dataFolder.toString()));
    line(yaml, "", "host", HOST);
    line(yaml, "", "advertised_host", quoted(advertisedHost));
    if (members.isEmpty()) {
      line(yaml, "", "bootstrap", "true");
    } else {
      line(yaml, "", "join", "");
      members.forEach(member -> yaml.append("  - ").append(quoted(member)).append('\n'));
    }
    line(yaml, "", "ports", "");
    line(yaml, "  ", "flight", Integer.toString(ports));
    line(yaml, "  ", "internal", Integer.toString(ports + 1));
    line(yaml, "  ", "http", Integer.toString(ports + 2));
    line(yaml, "  ", "ops", Integer.toString(ports + 3));
    line(yaml, "  ", "meta_raft", Integer.toString(ports + 4));
    line(yaml, "  ", "shard_raft", Integer.toString(ports + 5));
    sections().forEach((section, keys) -> appendSection(yaml, section, keys));
    return yaml.toString();
  }

  private Map<String, Map<String, String>> sections() {
    Map<String, Map<String, String>> sections = new TreeMap<>();
    settings.forEach(
        (dotted, value) -> {
          int dot = dotted.indexOf('.');
          sections
              .computeIfAbsent(dotted.substring(0, dot), unused -> new TreeMap<>())
              .put(dotted.substring(dot + 1), value);
        });
    return sections;
  }

  private static void appendSection(StringBuilder yaml, String section, Map<String, String> keys) {
    line(yaml, "", section, "");
    keys.forEach((key, value) -> line(yaml, "  ", key, value));
  }

  private static void line(StringBuilder yaml, String indent, String key, String value) {
    yaml.append(indent).append(key).append(':').append(value.isEmpty() ? "" : " " + value);
    yaml.append('\n');
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }
}
