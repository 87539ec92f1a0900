// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Deletes points by filter. */
@Command(name = "delete", description = "Deletes the points that a filter matches.")
final class DeleteCommand extends ClusterCommand {
  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Mixin private FilterOptions filter;

  @Override
  int run(Connection connection, Printer printer) {
    ObjectNode body = collectionBody(name);
    filter.addTo(body);
    JsonNode answer = connection.act(request("delete", body));
    printer.done("deleted " + answer.path("rows").asText() + " points", answer);
    return 0;
  }
}
