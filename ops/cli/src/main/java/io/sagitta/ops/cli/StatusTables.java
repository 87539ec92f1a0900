// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * The cluster's status for people: the cluster in two lines, then its nodes, its shards, and each
 * node's memory by part; last, in whole lines, what is wrong. What a node did not report is a dash.
 */
final class StatusTables {
  private static final String UNKNOWN = "-";

  /** The states of a replica that need no mention: who leads has a column of its own. */
  private static final Set<String> USUAL_STATES = Set.of("leader", "follower");

  private final JsonNode status;

  StatusTables(JsonNode status) {
    this.status = status;
  }

  void print(Printer printer) {
    printer.line("cluster   " + text(status.path("cluster")));
    printer.line(
        "metadata  leader %s, voters %s, epoch %s"
            .formatted(
                text(status.at("/metadata/leader")),
                words(status.at("/metadata/voters")),
                text(status.path("epoch"))));
    section(printer, nodes());
    section(printer, shards());
    section(printer, memory());
    List<String> problems = problems();
    if (!problems.isEmpty()) {
      printer.line("");
      problems.forEach(printer::line);
    }
  }

  private static void section(Printer printer, Table table) {
    if (!table.isEmpty()) {
      printer.line("");
      printer.table(table);
    }
  }

  private Table nodes() {
    Table table =
        Table.of("node", "flight", "ready", "leads", "groups", "disk free", "starts", "version")
            .numeric(3)
            .numeric(4)
            .numeric(5)
            .numeric(6);
    for (JsonNode node : status.path("nodes")) {
      table.row(
          text(node.path("name")),
          text(node.path("host")) + ":" + text(node.at("/ports/flight")),
          !node.path("reachable").asBoolean()
              ? "unreachable"
              : node.path("ready").asBoolean() ? "yes" : "no",
          text(node.path("leads")),
          text(node.path("groups")) + "/" + text(node.path("groups_max")),
          bytes(node.at("/disk/free_bytes")),
          text(node.path("starts")),
          text(node.path("version")));
    }
    return table;
  }

  /** One row a shard, by its leader; how far the slowest replica is behind is what to look at. */
  private Table shards() {
    Table table =
        Table.of(
                "collection",
                "shard",
                "leader",
                "replicas",
                "index",
                "behind",
                "rows",
                "segments",
                "log")
            .numeric(1)
            .numeric(4)
            .numeric(5)
            .numeric(6)
            .numeric(7)
            .numeric(8);
    for (JsonNode collection : status.path("collections")) {
      for (JsonNode shard : collection.path("shards")) {
        JsonNode leader = leader(shard);
        List<String> replicas = new ArrayList<>();
        shard.path("replicas").forEach(replica -> replicas.add(replica(replica)));
        table.row(
            text(collection.path("name")),
            text(shard.path("shard")),
            text(shard.path("leader")),
            String.join(" ", replicas),
            text(leader.path("index")),
            behind(shard, leader),
            text(leader.path("rows")),
            text(leader.path("segments")),
            bytes(leader.path("log_bytes")));
      }
    }
    return table;
  }

  private static JsonNode leader(JsonNode shard) {
    for (JsonNode replica : shard.path("replicas")) {
      if (replica.path("node").equals(shard.path("leader"))) {
        return replica;
      }
    }
    return shard.path("no leader");
  }

  private static String replica(JsonNode replica) {
    String state = text(replica.path("state"));
    return text(replica.path("node")) + (USUAL_STATES.contains(state) ? "" : "(" + state + ")");
  }

  /** Entries that the slowest replica has yet to apply, as far as replicas have reported. */
  private static String behind(JsonNode shard, JsonNode leader) {
    if (!leader.path("index").isNumber()) {
      return UNKNOWN;
    }
    long most = 0;
    for (JsonNode replica : shard.path("replicas")) {
      long index = replica.path("index").asLong(leader.path("index").asLong());
      most = Math.max(most, leader.path("index").asLong() - index);
    }
    return Long.toString(most);
  }

  /** A row a part, a column a node: parts are whatever the nodes report. */
  private Table memory() {
    Set<String> parts = new TreeSet<>();
    List<String> header = new ArrayList<>(List.of("memory"));
    List<JsonNode> reported = new ArrayList<>();
    for (JsonNode node : status.path("nodes")) {
      if (!node.path("memory").isEmpty()) {
        node.path("memory").fieldNames().forEachRemaining(parts::add);
        header.add(text(node.path("name")));
        reported.add(node.path("memory"));
      }
    }
    Table table = new Table(header);
    for (int column = 1; column < header.size(); column++) {
      table.numeric(column);
    }
    for (String part : parts) {
      List<String> cells = new ArrayList<>(List.of(part.replace('_', ' ')));
      reported.forEach(memory -> cells.add(bytes(memory.path(part))));
      table.row(cells);
    }
    return table;
  }

  private List<String> problems() {
    List<String> lines = new ArrayList<>();
    for (JsonNode node : status.path("nodes")) {
      node.path("causes")
          .forEach(cause -> lines.add("node " + text(node.path("name")) + ": " + text(cause)));
    }
    for (JsonNode collection : status.path("collections")) {
      String name = "collection " + text(collection.path("name"));
      if (collection.has("ready") && !collection.path("ready").asBoolean()) {
        lines.add(name + " is not ready yet");
      }
      for (JsonNode shard : collection.path("shards")) {
        for (JsonNode replica : shard.path("replicas")) {
          if (replica.has("failure")) {
            lines.add(
                "%s, shard %s on %s: %s"
                    .formatted(
                        name,
                        text(shard.path("shard")),
                        text(replica.path("node")),
                        text(replica.path("failure"))));
          }
        }
      }
    }
    if (status.has("shards_being_removed")) {
      lines.add("shards being removed: " + text(status.path("shards_being_removed")));
    }
    return lines;
  }

  private static String words(JsonNode array) {
    List<String> words = new ArrayList<>();
    array.forEach(word -> words.add(text(word)));
    return words.isEmpty() ? UNKNOWN : String.join(" ", words);
  }

  private static String text(JsonNode value) {
    return value.isMissingNode() || value.isNull() ? UNKNOWN : value.asText();
  }

  /** Bytes with a unit of 1,024s: three digits are enough to compare by eye. */
  static String bytes(JsonNode value) {
    if (!value.isNumber()) {
      return UNKNOWN;
    }
    double left = value.asDouble();
    if (left < 1_024) {
      return value.asLong() + " B";
    }
    String[] units = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = -1;
    while (left >= 1_023.5 && unit + 1 < units.length) {
      left /= 1_024;
      unit++;
    }
    return String.format(Locale.ROOT, left < 9.95 ? "%.1f %s" : "%.0f %s", left, units[unit]);
  }
}
