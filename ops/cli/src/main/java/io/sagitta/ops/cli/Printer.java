// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.cli.Connection.RowsEnd;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.vector.types.pojo.Field;

/** Prints answers: as JSON, or for people. */
record Printer(Terminal terminal, boolean json) {

  /** An answer of one object. */
  void object(JsonNode answer) {
    if (json) {
      out().println(answer);
    } else {
      sections("", answer);
    }
  }

  /** A line for people about a thing done; with {@code --json} the object instead. */
  void done(String line, JsonNode answer) {
    out().println(json ? answer.toString() : line);
  }

  /** Rows, and what came beside them under names of their own. */
  void rows(List<ObjectNode> rows, RowsEnd end, Map<String, JsonNode> beside) {
    if (json) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      object.putArray("rows").addAll(rows);
      beside.forEach(object::set);
      out().println(object);
      return;
    }
    List<String> names = end.schema().getFields().stream().map(Field::getName).toList();
    Table table = new Table(names);
    for (int c = 0; c < names.size(); c++) {
      int column = c;
      if (rows.stream().anyMatch(row -> row.get(names.get(column)).isNumber())) {
        table.numeric(c);
      }
    }
    for (ObjectNode row : rows) {
      table.row(names.stream().map(name -> RowValues.cell(row.get(name))).toList());
    }
    table.print(out(), terminal.width());
    // Remarks on standard error: a table that is piped on has only rows.
    beside.forEach((name, value) -> terminal.err().println(name + ": " + text(value)));
  }

  /** A line for people. */
  void line(String line) {
    out().println(line);
  }

  void table(Table table) {
    table.print(out(), terminal.width());
  }

  private static String text(JsonNode value) {
    return value.isTextual() ? value.textValue() : value.toString();
  }

  /**
   * Any object for people: its scalars as lines, objects and arrays of objects as sections and
   * tables of their own.
   */
  private void sections(String title, JsonNode node) {
    List<Map.Entry<String, JsonNode>> nested = new ArrayList<>();
    Table scalars = Table.of(title.isEmpty() ? "" : title, "");
    boolean any = false;
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      JsonNode value = entry.getValue();
      if (value.isObject() && !value.isEmpty() || isObjects(value)) {
        nested.add(entry);
      } else {
        scalars.row(entry.getKey(), RowValues.cell(value));
        any = true;
      }
    }
    if (any) {
      scalars.printBody(out(), terminal.width());
    }
    for (Map.Entry<String, JsonNode> entry : nested) {
      String name = title.isEmpty() ? entry.getKey() : title + "." + entry.getKey();
      out().println();
      out().println(name + ":");
      if (entry.getValue().isArray()) {
        objects(entry.getValue());
      } else {
        sections(name, entry.getValue());
      }
    }
  }

  private static boolean isObjects(JsonNode value) {
    return value.isArray() && !value.isEmpty() && value.get(0).isObject();
  }

  private void objects(JsonNode array) {
    List<String> names = new ArrayList<>();
    for (JsonNode element : array) {
      element
          .fieldNames()
          .forEachRemaining(
              name -> {
                if (!names.contains(name)) {
                  names.add(name);
                }
              });
    }
    Table table = new Table(names);
    for (int c = 0; c < names.size(); c++) {
      if (array.get(0).path(names.get(c)).isNumber()) {
        table.numeric(c);
      }
    }
    for (JsonNode element : array) {
      table.row(
          names.stream()
              .map(name -> Optional.ofNullable(element.get(name)).map(Printer::cell).orElse(""))
              .toList());
    }
    table.print(out(), terminal.width());
  }

  /** An array of plain values reads better as words. */
  private static String cell(JsonNode value) {
    if (value.isArray() && !isObjects(value)) {
      List<String> words = new ArrayList<>();
      value.forEach(item -> words.add(RowValues.cell(item)));
      return String.join(" ", words);
    }
    return RowValues.cell(value);
  }

  private PrintStream out() {
    return terminal.out();
  }
}
