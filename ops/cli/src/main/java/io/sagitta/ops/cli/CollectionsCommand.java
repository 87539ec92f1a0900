// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.ops.cli.Connection.CollectionLine;
import java.util.List;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import picocli.CommandLine.Command;

/** All collections. */
@Command(name = "collections", description = "Lists the collections.")
final class CollectionsCommand extends ClusterCommand {
  @Override
  int run(Connection connection, Printer printer) {
    List<CollectionLine> collections = connection.collections();
    if (printer.json()) {
      ObjectNode answer = JSON.objectNode();
      ArrayNode array = answer.putArray("collections");
      for (CollectionLine line : collections) {
        ObjectNode object = array.addObject().put("collection", line.name());
        if (line.rows() >= 0) {
          object.put("rows", line.rows());
        }
        ArrayNode fields = object.putArray("fields");
        line.schema().getFields().forEach(field -> fields.add(field.getName()));
      }
      printer.object(answer);
      return 0;
    }
    Table table = Table.of("collection", "rows", "vectors", "payload").numeric(1);
    for (CollectionLine line : collections) {
      table.row(
          line.name(),
          line.rows() < 0 ? "?" : Long.toString(line.rows()),
          vectors(line.schema()),
          payload(line.schema()));
    }
    printer.table(table);
    return 0;
  }

  private static String vectors(Schema schema) {
    return words(schema, "vector");
  }

  private static String payload(Schema schema) {
    return words(schema, "payload");
  }

  private static String words(Schema schema, String role) {
    return String.join(
        " ",
        schema.getFields().stream()
            .filter(field -> role.equals(field.getMetadata().get(ArrowSchemas.ROLE)))
            .map(CollectionsCommand::word)
            .toList());
  }

  private static String word(Field field) {
    String type = field.getMetadata().getOrDefault(ArrowSchemas.TYPE, "?");
    String dimension = field.getMetadata().get(ArrowSchemas.DIMENSION);
    return field.getName()
        + ":"
        + type
        + (dimension == null
            ? ""
            : "[" + dimension + "]:" + field.getMetadata().get(ArrowSchemas.METRIC));
  }
}
