// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import picocli.CommandLine.Command;

/** Nodes, leaders, health. */
@Command(name = "status", description = "Shows the cluster: nodes, leaders, health.")
final class StatusCommand extends ClusterCommand {
  @Override
  int run(Connection connection, Printer printer) {
    printer.object(connection.act(request("status", JSON.objectNode())));
    return 0;
  }
}
