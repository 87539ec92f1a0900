// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command.Get;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.ops.cli.Connection.RowsEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Points by id. */
@Command(
    name = "get",
    description = {
      "Shows points by id, in the order given.",
      "Ids that do not exist are left out; where none exists the exit code is 3."
    })
final class GetCommand extends ClusterCommand {
  @Parameters(index = "0", paramLabel = "NAME", description = "The collection.")
  private String name;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "ID",
      description = "Ids. Write -- before the first negative one.")
  private List<String> ids;

  @Mixin private ReadOptions.Fields fields;
  @Mixin private ReadOptions read;

  @Override
  int run(Connection connection, Printer printer) {
    IdType type = PointIds.typeOf(describe(connection, name));
    ObjectNode body = collectionBody(name);
    ArrayNode array = body.putArray("ids");
    ids.forEach(id -> array.add(PointIds.json(type, id)));
    fields.addTo(body);
    read.addTo(body);
    List<ObjectNode> rows = new ArrayList<>();
    Get get = (Get) request("get", body);
    RowsEnd end = connection.rows(get, batch -> RowValues.addRows(batch, rows));
    printer.rows(rows, end, Map.of());
    return rows.isEmpty() ? ErrorCode.NOT_FOUND.exitCode() : 0;
  }
}
