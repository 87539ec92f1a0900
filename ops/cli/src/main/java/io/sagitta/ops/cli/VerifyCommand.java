// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.model.ErrorCode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Compares the replicas of a collection. */
@Command(
    name = "verify",
    description = {
      "Compares what the replicas of a collection hold, by digest at one log index.",
      "The exit code is 10 where they differ, 7 where they could not be compared: a replica did not"
          + " answer, or writes went on."
    })
final class VerifyCommand extends ClusterCommand {
  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Override
  int run(Connection connection, Printer printer) {
    JsonNode answer = connection.act(request("verify", collectionBody(name)));
    int code = 0;
    for (JsonNode shard : answer.path("shards")) {
      code = Math.max(code, code(shard.path("equal")));
    }
    if (printer.json()) {
      printer.object(answer);
      return code;
    }
    Table table = Table.of("shard", "replica", "index", "rows", "digest", "verdict");
    table.numeric(0).numeric(2).numeric(3);
    for (JsonNode shard : answer.path("shards")) {
      for (JsonNode replica : shard.path("replicas")) {
        table.row(
            shard.path("shard").asText(),
            replica.path("node").asText(),
            replica.path("index").asText(),
            replica.path("rows").asText(),
            replica.path("digest").asText(replica.path("error").asText()),
            verdict(shard.path("equal")));
      }
    }
    printer.table(table);
    return code;
  }

  private static int code(JsonNode equal) {
    if (equal.isBoolean()) {
      return equal.booleanValue() ? 0 : ErrorCode.CORRUPT.exitCode();
    }
    return ErrorCode.UNAVAILABLE.exitCode();
  }

  private static String verdict(JsonNode equal) {
    return equal.isBoolean() ? equal.booleanValue() ? "equal" : "DIFFERENT" : "not compared";
  }
}
