// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Drops a collection. */
@Command(name = "drop", description = "Drops a collection and all its points.")
final class DropCommand extends ClusterCommand {
  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Override
  int run(Connection connection, Printer printer) {
    JsonNode answer = connection.act(request("drop", collectionBody(name)));
    printer.done("dropped " + name, answer);
    return 0;
  }
}
