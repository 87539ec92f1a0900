// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Counts points, exactly. */
@Command(name = "count", description = "Counts points, exactly.")
final class CountCommand extends ClusterCommand {
  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Mixin private FilterOptions filter;
  @Mixin private ReadOptions read;

  @Override
  int run(Connection connection, Printer printer) {
    ObjectNode body = collectionBody(name);
    filter.addTo(body);
    read.addTo(body);
    JsonNode answer = connection.act(request("count", body));
    printer.done(answer.path("count").asText(), answer);
    return 0;
  }
}
