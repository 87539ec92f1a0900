// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the outside world comes in: the only classes that may read a clock, draw unseeded random
 * numbers or make threads. These are each {@code *Main}, {@code io.sagitta.node.Node}, ops, tests,
 * and what {@code adapters.txt} lists with its reason.
 */
final class Adapters {

  private static final List<String> LISTED = readList();

  private Adapters() {}

  static boolean contains(JavaClass type) {
    String name = outermost(type);
    return name.endsWith("Main")
        || name.equals("io.sagitta.node.Node")
        || name.startsWith("io.sagitta.ops.")
        || name.startsWith("io.sagitta.it.")
        || LISTED.stream().anyMatch(line -> matches(line, name));
  }

  /** The list's patterns: a class, or a package and all below it ({@code io.sagitta.x..}). */
  static List<String> listed() {
    return LISTED;
  }

  static boolean matches(String pattern, String className) {
    return pattern.endsWith("..")
        ? className.startsWith(pattern.substring(0, pattern.length() - 1))
        : className.equals(pattern);
  }

  private static String outermost(JavaClass type) {
    String name = type.getName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  private static List<String> readList() {
    try (InputStream in = Adapters.class.getResourceAsStream("adapters.txt")) {
      List<String> patterns = new ArrayList<>();
      for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\\R")) {
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        String[] columns = line.trim().split("\\s+", 2);
        if (columns.length < 2) {
          throw new AssertionError("adapters.txt: give a reason for " + columns[0]);
        }
        patterns.add(columns[0]);
      }
      return List.copyOf(patterns);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
