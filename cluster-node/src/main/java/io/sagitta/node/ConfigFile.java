// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.sagitta.node.NodeConfig.Disk;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Limits;
import io.sagitta.node.NodeConfig.Log;
import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.node.NodeConfig.Memory;
import io.sagitta.node.NodeConfig.Ports;
import io.sagitta.node.NodeConfig.Security;
import io.sagitta.node.NodeConfig.Timeouts;
import io.sagitta.shard.FreezePolicy;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads {@link NodeConfig} from YAML. Every default stands here once, every value is checked here
 * once; a key that is not known is refused with the nearest known one, since a setting that is
 * silently ignored is worse than none.
 */
public final class ConfigFile {
  /** What the JVM takes beside its heap, and threads, code and libraries. */
  private static final long JVM_BYTES = 256 << 20;

  private static final ObjectMapper YAML =
      new ObjectMapper(
              YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /** A configuration file larger than this is not one. */
  private static final long FILE_BYTES_MAX = 1 << 20;

  private ConfigFile() {}

  /** Reads and checks a file. */
  public static NodeConfig read(Path file) {
    String text;
    try {
      if (Files.size(file) > FILE_BYTES_MAX) {
        throw new ConfigException(file + ": larger than " + FILE_BYTES_MAX + " bytes");
      }
      text = Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new ConfigException(file + ": no such file", e);
    } catch (IOException e) {
      throw new ConfigException(file + ": cannot be read: " + e.getMessage(), e);
    }
    Path folder = file.toAbsolutePath().getParent();
    return parse(file.toString(), text, folder);
  }

  /**
   * Parses and checks a configuration.
   *
   * @param source what to call it in errors
   * @param folder what a relative {@code data_dir} is relative to
   */
  static NodeConfig parse(String source, String text, Path folder) {
    JsonNode root;
    try {
      root = YAML.readTree(text);
    } catch (JsonProcessingException e) {
      String where =
          e.getLocation() == null
              ? ""
              : ":" + e.getLocation().getLineNr() + ":" + e.getLocation().getColumnNr();
      throw new ConfigException(source + where + ": not YAML: " + firstLine(e), e);
    }
    Section top = Section.root(source, root);
    String dataDir = top.text("data_dir", null);
    boolean bootstrap = top.bool("bootstrap", false);
    List<String> join = top.texts("join");
    String host = top.text("host", "127.0.0.1");
    String advertisedHost = top.text("advertised_host", host);
    Security security =
        top.choice("security", Security.LOOPBACK, Security.values(), Security::text);
    Ports ports = ports(top.section("ports"));
    Memory memory = memory(top.section("memory"));
    Limits limits = limits(top.section("limits"));
    Timeouts timeouts = timeouts(top.section("timeouts"));
    Disk disk = disk(top.section("disk"));
    Log log = log(top.section("log"));
    // Before anything is missed: what is missing may be there under a misspelt name.
    top.refuseUnknown();
    NodeConfig config =
        new NodeConfig(
            folder.resolve(top.present("data_dir", dataDir)).normalize(),
            host,
            advertisedHost,
            ports,
            membership(top, bootstrap, join),
            security,
            memory,
            limits,
            timeouts,
            disk,
            log);
    check(top, config);
    return config;
  }

  /** The configuration of a node of {@code start}: all defaults, loopback. As YAML. */
  static String localYaml(Path dataDir, Ports ports, Membership membership) {
    StringBuilder yaml = new StringBuilder();
    yaml.append("data_dir: ").append(quote(dataDir.toString())).append('\n');
    switch (membership) {
      case Membership.Bootstrap() -> yaml.append("bootstrap: true\n");
      case Membership.Join(List<HostPort> members) -> {
        yaml.append("join:\n");
        members.forEach(m -> yaml.append("  - ").append(quote(m.toString())).append('\n'));
      }
    }
    yaml.append("ports:\n");
    portsByName(ports)
        .forEach(
            (name, port) -> yaml.append("  ").append(name).append(": ").append(port).append('\n'));
    return yaml.toString();
  }

  private static Ports ports(Section section) {
    Ports standard = Ports.from(8815);
    Ports ports =
        new Ports(
            port(section, "flight", standard.flight()),
            port(section, "internal", standard.internal()),
            port(section, "http", standard.http()),
            port(section, "ops", standard.ops()),
            port(section, "meta_raft", standard.metaRaft()),
            port(section, "shard_raft", standard.shardRaft()));
    section.refuseUnknown();
    Map<Integer, String> seen = new LinkedHashMap<>();
    portsByName(ports)
        .forEach(
            (name, port) -> {
              String other = seen.put(port, name);
              if (other != null) {
                throw section.error(
                    name, "is " + port + " like ports." + other + ", ports must differ");
              }
            });
    return ports;
  }

  static Map<String, Integer> portsByName(Ports ports) {
    Map<String, Integer> byName = new LinkedHashMap<>();
    byName.put("flight", ports.flight());
    byName.put("internal", ports.internal());
    byName.put("http", ports.http());
    byName.put("ops", ports.ops());
    byName.put("meta_raft", ports.metaRaft());
    byName.put("shard_raft", ports.shardRaft());
    return byName;
  }

  private static int port(Section section, String key, int standard) {
    return section.integer(key, standard, 1, 65_535);
  }

  private static Membership membership(Section top, boolean bootstrap, List<String> join) {
    if (bootstrap == !join.isEmpty()) {
      throw top.error(
          "bootstrap",
          "and 'join': give exactly one, bootstrap: true on the first node of a cluster, join: [host:port]"
              + " with internal ports of members on every other");
    }
    if (bootstrap) {
      return new Membership.Bootstrap();
    }
    List<HostPort> members = new ArrayList<>();
    for (String text : join) {
      members.add(hostPort(top, "join", text));
    }
    return new Membership.Join(members);
  }

  private static HostPort hostPort(Section section, String key, String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (!host.isEmpty() && port > 0 && port <= 65_535) {
        return new HostPort(host, port);
      }
    } catch (NumberFormatException e) {
      throw section.error(key, "holds '" + text + "', expected host:port", e);
    }
    throw section.error(key, "holds '" + text + "', expected host:port");
  }

  private static Memory memory(Section section) {
    long heap = Runtime.getRuntime().maxMemory();
    long usual = Math.max(1L << 30, heap);
    long left = Math.max(0, machineBytes() - heap - JVM_BYTES);
    Memory memory =
        new Memory(
            section.bytes("off_heap_bytes", Math.min(2 * usual, left / 2), 64 << 20, 1L << 44),
            section.bytes("growing_bytes", Math.min(usual, left / 4), 16 << 20, 1L << 44),
            section.bytes("resident_bytes", left / 2, 0, 1L << 44));
    section.refuseUnknown();
    return memory;
  }

  /** Memory of the machine, or of the control group that the process is confined to. */
  private static long machineBytes() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getTotalMemorySize()
        : Long.MAX_VALUE;
  }

  private static Limits limits(Section section) {
    Limits limits =
        new Limits(
            section.integer("groups", 64, 1, 4_096),
            section.integer("search_threads", Runtime.getRuntime().availableProcessors(), 1, 1_024),
            section.integer("search_queue", 1_024, 1, 1 << 20),
            section.bytes("writes_in_flight_bytes", 64 << 20, 2 << 20, 1L << 40),
            section.bytes("prefetch_bytes_per_second", 200L << 20, 1 << 20, 1L << 40),
            section.bytes("log_file_bytes", 16 << 20, 64 << 10, 1L << 32));
    section.refuseUnknown();
    return limits;
  }

  private static Timeouts timeouts(Section section) {
    Timeouts timeouts =
        new Timeouts(
            section.integer("meta_election_ms", 1_000, 50, 60_000),
            section.integer("shard_election_ms", 1_000, 50, 60_000),
            section.integer("join_ms", 60_000, 100, 3_600_000),
            section.integer("call_ms", 30_000, 100, 3_600_000),
            section.integer("drain_ms", 30_000, 0, 3_600_000),
            section.integer("reconcile_ms", 1_000, 10, 60_000));
    section.refuseUnknown();
    return timeouts;
  }

  private static Disk disk(Section section) {
    Disk disk =
        new Disk(
            section.integer("warn_percent", 85, 1, 100),
            section.integer("refuse_percent", 95, 1, 100),
            section.integer("scrub_hours", 24, 0, 8_760));
    section.refuseUnknown();
    if (disk.warnPercent() > disk.refusePercent()) {
      throw section.error("warn_percent", "must not be above refuse_percent");
    }
    return disk;
  }

  private static Log log(Section section) {
    Log log =
        new Log(
            section.bytes("checkpoint_bytes", 256L << 20, 64 << 10, 1L << 40),
            section.bytes("checkpoint_ms", 600_000, 1_000, 86_400_000),
            section.bytes("segment_bytes", 32L << 20, 64 << 10, 1L << 30),
            section.integer("freeze_rows", FreezePolicy.DEFAULT.rows(), 1, 1 << 24),
            section.bytes("freeze_bytes", FreezePolicy.DEFAULT.bytes(), 64 << 10, 1L << 34));
    section.refuseUnknown();
    return log;
  }

  /** What spans several keys. */
  private static void check(Section top, NodeConfig config) {
    if (config.security() == Security.LOOPBACK) {
      for (var entry :
          Map.of("host", config.host(), "advertised_host", config.advertisedHost()).entrySet()) {
        if (!isLoopback(top, entry.getKey(), entry.getValue())) {
          throw top.error(
              entry.getKey(),
              "is '"
                  + entry.getValue()
                  + "', which is not a loopback address: without TLS and credentials a node listens"
                  + " on loopback only, unless the file says security: "
                  + Security.INSECURE_PRIVATE_NETWORK.text());
        }
      }
    }
    Set<String> wildcards = Set.of("0.0.0.0", "::", "[::]");
    if (wildcards.contains(config.advertisedHost())) {
      throw top.error(
          "advertised_host", "is a wildcard; give the address at which other nodes reach this one");
    }
  }

  private static boolean isLoopback(Section top, String key, String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw top.error(key, "is '" + host + "', which has no address", e);
    }
  }

  private static String quote(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  private static String firstLine(JsonProcessingException e) {
    return e.getOriginalMessage().lines().findFirst().orElse("");
  }
}
