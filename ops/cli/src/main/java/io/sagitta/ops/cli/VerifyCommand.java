// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.model.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Compares the replicas of a collection: a table of every replica with the server's verdict on it,
 * below it the reasons of all that are not equal.
 */
@Command(
    name = "verify",
    description = {
      "Compares what the replicas of a collection hold, by digest at one log index.",
      "The verdict on a replica is equal where a majority of the shard's replicas holds the same,"
          + " DIFFERENT where a majority holds something else, undecided where no majority agrees,"
          + " not compared where no other was read at the same index, only replica where there is"
          + " no other; or what is wrong with it: damaged, unreachable, unavailable. One that"
          + " cannot be read does not keep the others from being compared.",
      "The exit code is 10 where replicas differ or one is damaged, else 7 where not all could be"
          + " compared: one did not answer, or writes went on. It is 0 where all are equal, and"
          + " where there is only one."
    })
final class VerifyCommand extends ClusterCommand {
  private static final String DIFFERENT = "different";
  private static final String ONLY_REPLICA = "only_replica";

  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Override
  int run(Connection connection, Printer printer) {
    JsonNode answer = connection.act(request("verify", collectionBody(name)));
    if (printer.json()) {
      printer.object(answer);
    } else {
      print(answer.path("shards"), printer);
    }
    int code = 0;
    for (JsonNode shard : answer.path("shards")) {
      code = Math.max(code, code(shard));
    }
    return code;
  }

  private static void print(JsonNode shards, Printer printer) {
    Table table = Table.of("shard", "replica", "index", "rows", "digest", "verdict");
    table.numeric(0).numeric(2).numeric(3);
    List<String> causes = new ArrayList<>();
    for (JsonNode shard : shards) {
      for (JsonNode replica : shard.path("replicas")) {
        table.row(
            shard.path("shard").asText(),
            replica.path("node").asText(),
            replica.path("index").asText("-"),
            replica.path("rows").asText("-"),
            replica.path("digest").asText("-"),
            verdict(shard, replica));
      }
      causes(shard)
          .forEach(
              (cause, nodes) ->
                  causes.add(
                      "shard %s on %s: %s"
                          .formatted(
                              shard.path("shard").asText(), String.join(" ", nodes), cause)));
    }
    printer.table(table);
    if (!causes.isEmpty()) {
      printer.line("");
      causes.forEach(printer::line);
    }
  }

  /** Why replicas are not equal, each reason once, with the nodes that have it. */
  private static Map<String, List<String>> causes(JsonNode shard) {
    Map<String, List<String>> causes = new LinkedHashMap<>();
    for (JsonNode replica : shard.path("replicas")) {
      String cause = replica.path("cause").asText(replica.path("error").asText());
      if (!cause.isEmpty()) {
        causes.computeIfAbsent(cause, c -> new ArrayList<>()).add(replica.path("node").asText());
      }
    }
    return causes;
  }

  private static String verdict(JsonNode shard, JsonNode replica) {
    String verdict = replica.path("verdict").asText();
    if (verdict.isEmpty()) {
      return verdictOfOlderNode(shard.path("equal"));
    }
    return verdict.equals(DIFFERENT) ? "DIFFERENT" : verdict.replace('_', ' ');
  }

  /** Older software has one word for all replicas of a shard. */
  private static String verdictOfOlderNode(JsonNode equal) {
    return equal.isBoolean() ? equal.booleanValue() ? "equal" : "DIFFERENT" : "not compared";
  }

  private static int code(JsonNode shard) {
    JsonNode equal = shard.path("equal");
    if (equal.isBoolean()) {
      return equal.booleanValue() ? 0 : ErrorCode.CORRUPT.exitCode();
    }
    boolean alone = shard.at("/replicas/0/verdict").asText().equals(ONLY_REPLICA);
    return alone ? 0 : ErrorCode.UNAVAILABLE.exitCode();
  }
}
