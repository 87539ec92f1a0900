// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;

/** Nodes, shards, memory, and what is wrong. */
@Command(name = "status", description = "Shows the cluster: nodes, leaders, health.")
final class StatusCommand extends ClusterCommand {
  @Override
  int run(Connection connection, Printer printer) {
    JsonNode status = connection.act(request("status", JSON.objectNode()));
    if (printer.json()) {
      printer.object(status);
    } else {
      new StatusTables(status).print(printer);
    }
    return 0;
  }
}
