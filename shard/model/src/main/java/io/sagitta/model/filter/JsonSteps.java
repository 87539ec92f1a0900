// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import java.util.ArrayList;
import java.util.List;

/**
 * Paths into JSON documents: {@code $} followed by {@code .name}, {@code ["any name"]} and {@code
 * [0]}. A step is the name, or {@code #} and the place in an array; a name that begins with {@code
 * #} gets another one in front.
 */
final class JsonSteps {
  private JsonSteps() {}

  static List<String> parse(String path) {
    List<String> steps = new ArrayList<>();
    if (!path.startsWith("$")) {
      throw error(path);
    }
    int at = 1;
    while (at < path.length()) {
      int end;
      if (path.charAt(at) == '.') {
        end = at + 1;
        while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') {
          end++;
        }
        if (end == at + 1) {
          throw error(path);
        }
        steps.add(name(path.substring(at + 1, end)));
      } else if (path.startsWith("[\"", at)) {
        int close = path.indexOf("\"]", at + 2);
        if (close < 0) {
          throw error(path);
        }
        steps.add(name(path.substring(at + 2, close)));
        end = close + 2;
      } else if (path.charAt(at) == '[') {
        int close = path.indexOf(']', at);
        String place = close < 0 ? "" : path.substring(at + 1, close);
        if (place.isEmpty() || place.length() > 9 || !place.chars().allMatch(Character::isDigit)) {
          throw error(path);
        }
        steps.add("#" + Integer.parseInt(place));
        end = close + 1;
      } else {
        throw error(path);
      }
      at = end;
    }
    return steps;
  }

  private static String name(String name) {
    return name.startsWith("#") ? "#" + name : name;
  }

  private static SagittaException error(String path) {
    return SagittaException.invalid(
        "filter: JSON path "
            + Names.quote(path)
            + " is malformed, expected such as $.a[\"b.c\"][0]");
  }
}
