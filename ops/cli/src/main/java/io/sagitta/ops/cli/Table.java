// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A table of text: a header, rows, two spaces between columns. Columns of numbers are aligned to
 * the right. On a terminal the widest columns are cut so that a row stays on its line; elsewhere
 * nothing is cut, since a program reads it.
 */
final class Table {
  private static final String GAP = "  ";
  private static final int SHORTEST_COLUMN = 8;

  private final List<String> header;
  private final boolean[] numeric;
  private final List<List<String>> rows = new ArrayList<>();

  Table(List<String> header) {
    this.header = List.copyOf(header);
    this.numeric = new boolean[header.size()];
  }

  /** A table with a header of these words. */
  static Table of(String... header) {
    return new Table(List.of(header));
  }

  /** Aligns a column to the right. */
  Table numeric(int column) {
    numeric[column] = true;
    return this;
  }

  /** Adds a row: as many cells as the header has. */
  Table row(List<String> cells) {
    if (cells.size() != header.size()) {
      throw new IllegalArgumentException(cells.size() + " cells, expected " + header.size());
    }
    rows.add(cells.stream().map(Table::oneLine).toList());
    return this;
  }

  Table row(String... cells) {
    return row(List.of(cells));
  }

  /** Whether it has no row. */
  boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Prints the table.
   *
   * @param width columns of the terminal; 0 where there is none
   */
  void print(PrintStream out, int width) {
    int[] widths = widths(width);
    out.println(line(header, widths));
    for (List<String> row : rows) {
      out.println(line(row, widths));
    }
  }

  /** Prints the rows without the header. */
  void printBody(PrintStream out, int width) {
    int[] widths = widths(width);
    for (List<String> row : rows) {
      out.println(line(row, widths));
    }
  }

  private int[] widths(int width) {
    int[] widths = new int[header.size()];
    for (int c = 0; c < widths.length; c++) {
      widths[c] = length(header.get(c));
      for (List<String> row : rows) {
        widths[c] = Math.max(widths[c], length(row.get(c)));
      }
    }
    if (width > 0) {
      shrink(widths, width - GAP.length() * (widths.length - 1));
    }
    return widths;
  }

  /** Takes from the widest column until the sum fits. */
  private static void shrink(int[] widths, int room) {
    while (Arrays.stream(widths).sum() > room) {
      int widest = 0;
      for (int c = 1; c < widths.length; c++) {
        if (widths[c] > widths[widest]) {
          widest = c;
        }
      }
      if (widths[widest] <= SHORTEST_COLUMN) {
        return;
      }
      widths[widest]--;
    }
  }

  private String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < widths.length; c++) {
      String cell = cut(cells.get(c), widths[c]);
      String blanks = " ".repeat(widths[c] - length(cell));
      line.append(c == 0 ? "" : GAP).append(numeric[c] ? blanks + cell : cell + blanks);
    }
    return line.toString().stripTrailing();
  }

  private static String cut(String cell, int width) {
    return length(cell) <= width
        ? cell
        : cell.substring(0, cell.offsetByCodePoints(0, width - 1)) + "…";
  }

  private static int length(String cell) {
    return cell.codePointCount(0, cell.length());
  }

  /** Control characters of stored text must not move a terminal's cursor. */
  private static String oneLine(String cell) {
    StringBuilder out = new StringBuilder(cell.length());
    cell.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                  if (Character.isISOControl(c)) {
                    out.append(String.format("\\u%04x", c));
                  } else {
                    out.appendCodePoint(c);
                  }
                }
              }
            });
    return out.toString();
  }
}
