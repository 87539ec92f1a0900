// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Schema and placement of one collection. */
@Command(name = "describe", description = "Shows a collection's fields, shards and replicas.")
final class DescribeCommand extends ClusterCommand {
  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Override
  int run(Connection connection, Printer printer) {
    printer.object(describe(connection, name));
    return 0;
  }
}
