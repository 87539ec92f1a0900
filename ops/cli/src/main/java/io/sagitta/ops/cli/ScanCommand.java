// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.cli.Connection.RowsEnd;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Points in id order, a page at a time. */
@Command(name = "scan", description = "Shows points in id order, a page at a time.")
final class ScanCommand extends ClusterCommand {
  private static final int PAGE_MAX = 100_000;

  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "Points of this page, at most " + PAGE_MAX + "; default ${DEFAULT-VALUE}.")
  private int limit;

  @Option(names = "--cursor", paramLabel = "TEXT", description = "Where the page before ended.")
  private String cursor;

  @Mixin private FilterOptions filter;
  @Mixin private ReadOptions.Fields fields;
  @Mixin private ReadOptions read;

  @Override
  int run(Connection connection, Printer printer) {
    ObjectNode body = collectionBody(name);
    body.put("limit", Math.min(limit, PAGE_MAX));
    if (cursor != null) {
      body.put("cursor", cursor);
    }
    filter.addTo(body);
    fields.addTo(body);
    read.addTo(body);
    List<ObjectNode> rows = new ArrayList<>();
    RowsEnd end = connection.rows(request("scan", body), batch -> RowValues.addRows(batch, rows));
    Map<String, JsonNode> beside = new LinkedHashMap<>();
    if (rows.size() >= limit) {
      end.cursor().ifPresent(text -> beside.put("cursor", JSON.textNode(text)));
    }
    printer.rows(rows, end, beside);
    return 0;
  }
}
