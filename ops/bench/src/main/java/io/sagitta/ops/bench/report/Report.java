// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The figures of a run: an object whose values are numbers, texts, or arrays of such objects. The
 * order of the keys is that in which they were set.
 */
public final class Report {
  private final ObjectNode figures = JsonNodeFactory.instance.objectNode();

  /** A report that begins with what every report says: the verdict, the seed and the CPU. */
  public static Report of(long seed) {
    Report report = new Report();
    report.figures.put("ok", false);
    report.figures.put("seed", seed);
    report.figures.put("cpu", Machine.cpu());
    report.figures.put("cpus", Machine.cpus());
    return report;
  }

  /** The object itself. */
  public ObjectNode figures() {
    return figures;
  }

  public Report put(String key, long value) {
    figures.put(key, value);
    return this;
  }

  /** A figure with as many digits as are worth reading. */
  public Report put(String key, double value) {
    figures.put(key, rounded(value));
    return this;
  }

  public Report put(String key, String value) {
    figures.put(key, value);
    return this;
  }

  public Report put(String key, JsonNode value) {
    figures.set(key, value);
    return this;
  }

  /** A new line of the table {@code key}. */
  public ObjectNode line(String key) {
    return figures.withArray("/" + key).addObject();
  }

  /** The verdict, once it is known. */
  public Report ok(boolean ok) {
    figures.put("ok", ok);
    return this;
  }

  public boolean isOk() {
    return figures.path("ok").asBoolean();
  }

  /** Three significant digits after the point where the value is small, else fewer. */
  public static double rounded(double value) {
    if (value == 0 || !Double.isFinite(value)) {
      return 0;
    }
    double unit = Math.abs(value) >= 1_000 ? 1 : Math.abs(value) >= 10 ? 10 : 1_000;
    return Math.round(value * unit) / unit;
  }

  /** Exactly one line of JSON. */
  public void printJson(PrintStream out) {
    out.println(figures);
  }

  /** Lines for single figures, a table for each array of objects. */
  public void printText(PrintStream out) {
    List<Map.Entry<String, JsonNode>> tables = new ArrayList<>();
    int width =
        figures.properties().stream().mapToInt(entry -> entry.getKey().length()).max().orElse(0);
    for (Map.Entry<String, JsonNode> entry : figures.properties()) {
      if (entry.getValue().isArray()) {
        tables.add(entry);
      } else {
        out.println(padded(entry.getKey(), width) + "  " + text(entry.getValue()));
      }
    }
    for (Map.Entry<String, JsonNode> table : tables) {
      if (!table.getValue().isEmpty()) {
        out.println();
        out.println(table.getKey() + ":");
        printTable(out, (ArrayNode) table.getValue());
      }
    }
  }

  private static void printTable(PrintStream out, ArrayNode rows) {
    Set<String> columns = new LinkedHashSet<>();
    rows.forEach(row -> row.fieldNames().forEachRemaining(columns::add));
    if (columns.isEmpty()) {
      rows.forEach(row -> out.println("  " + text(row)));
      return;
    }
    StringBuilder head = new StringBuilder();
    List<StringBuilder> lines = new ArrayList<>();
    rows.forEach(row -> lines.add(new StringBuilder()));
    for (String column : columns) {
      int width = column.length();
      boolean numeric = true;
      for (JsonNode row : rows) {
        width = Math.max(width, text(row.path(column)).length());
        numeric &= row.path(column).isNumber() || row.path(column).isMissingNode();
      }
      head.append("  ").append(aligned(column, width, numeric));
      for (int r = 0; r < lines.size(); r++) {
        lines.get(r).append("  ").append(aligned(text(rows.get(r).path(column)), width, numeric));
      }
    }
    out.println(head.toString().stripTrailing());
    lines.forEach(line -> out.println(line.toString().stripTrailing()));
  }

  private static String aligned(String text, int width, boolean right) {
    String blanks = " ".repeat(width - text.length());
    return right ? blanks + text : text + blanks;
  }

  private static String padded(String text, int width) {
    return aligned(text, width, false);
  }

  private static String text(JsonNode value) {
    if (value.isMissingNode() || value.isNull()) {
      return "";
    }
    if (value.isIntegralNumber() && Math.abs(value.longValue()) >= 10_000) {
      return String.format(java.util.Locale.ROOT, "%,d", value.longValue());
    }
    return value.isTextual() ? value.textValue() : value.toString();
  }
}
