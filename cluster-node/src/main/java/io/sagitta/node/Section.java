// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.sagitta.flight.NearestName;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * One level of a configuration file. It remembers which keys were asked for, so that {@link
 * #refuseUnknown} needs no second list of them.
 */
final class Section {
  private final String source;
  private final String path;
  private final JsonNode node;
  private final TreeSet<String> known = new TreeSet<>();

  private Section(String source, String path, JsonNode node) {
    this.source = source;
    this.path = path;
    this.node = node;
  }

  static Section root(String source, JsonNode node) {
    if (!node.isObject()) {
      throw new ConfigException(source + ": expected keys and values");
    }
    return new Section(source, "", node);
  }

  /** The keys below {@code key}; none where it is absent. */
  Section section(String key) {
    JsonNode below = get(key);
    if (below == null) {
      below = JsonNodeFactory.instance.objectNode();
    } else if (!below.isObject()) {
      throw error(key, "expects keys below it");
    }
    return new Section(source, path + key + ".", below);
  }

  /** The text of a key that must be there. */
  String present(String key, String text) {
    if (text == null) {
      throw error(key, "is missing");
    }
    return text;
  }

  String text(String key, String standard) {
    JsonNode value = get(key);
    if (value == null) {
      return standard;
    }
    if (!value.isTextual() || value.textValue().isBlank()) {
      throw error(key, "expects text");
    }
    return value.textValue();
  }

  List<String> texts(String key) {
    JsonNode value = get(key);
    List<String> texts = new ArrayList<>();
    if (value == null) {
      return texts;
    }
    if (!value.isArray()) {
      throw error(key, "expects a list of texts");
    }
    for (JsonNode element : value) {
      if (!element.isTextual()) {
        throw error(key, "expects a list of texts");
      }
      texts.add(element.textValue());
    }
    return texts;
  }

  boolean bool(String key, boolean standard) {
    JsonNode value = get(key);
    if (value == null) {
      return standard;
    }
    if (!value.isBoolean()) {
      throw error(key, "expects true or false");
    }
    return value.booleanValue();
  }

  int integer(String key, int standard, int min, int max) {
    return (int) bytes(key, standard, min, max);
  }

  /** A whole number; {@code 64MiB} and the like are read too. */
  long bytes(String key, long standard, long min, long max) {
    JsonNode value = get(key);
    if (value == null) {
      return Math.clamp(standard, min, max);
    }
    long number;
    if (value.isIntegralNumber() && value.canConvertToLong()) {
      number = value.longValue();
    } else if (value.isTextual()) {
      number = withUnit(key, value.textValue());
    } else {
      throw error(key, "expects a whole number");
    }
    if (number < min || number > max) {
      throw error(key, "is " + number + ", expected " + min + ".." + max);
    }
    return number;
  }

  <E extends Enum<E>> E choice(String key, E standard, E[] values, Function<E, String> text) {
    String chosen = text(key, null);
    if (chosen == null) {
      return standard;
    }
    List<String> texts = new ArrayList<>();
    for (E value : values) {
      if (text.apply(value).equals(chosen)) {
        return value;
      }
      texts.add(text.apply(value));
    }
    throw error(key, "is '" + chosen + "', expected one of " + texts);
  }

  /** Refuses keys nobody asked for. Called after the last of them was read. */
  void refuseUnknown() {
    for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        String meant =
            NearestName.of(name, known)
                .map(nearest -> ", did you mean '" + path + nearest + "'?")
                .orElse(".");
        throw new ConfigException(
            source + ": unknown key '" + path + name + "'" + meant + " Known here: " + known);
      }
    }
  }

  ConfigException error(String key, String what) {
    return new ConfigException(source + ": '" + path + key + "' " + what);
  }

  ConfigException error(String key, String what, Throwable cause) {
    return new ConfigException(source + ": '" + path + key + "' " + what, cause);
  }

  private JsonNode get(String key) {
    known.add(key);
    JsonNode value = node.get(key);
    return value == null || value.isNull() ? null : value;
  }

  private long withUnit(String key, String text) {
    String[] units = {"KiB", "MiB", "GiB", "TiB"};
    for (int i = 0; i < units.length; i++) {
      if (text.endsWith(units[i])) {
        try {
          long count = Long.parseLong(text.substring(0, text.length() - 3).strip());
          return Math.multiplyExact(count, 1L << (10 * (i + 1)));
        } catch (NumberFormatException | ArithmeticException e) {
          throw error(key, "is '" + text + "', expected a number such as 64MiB", e);
        }
      }
    }
    throw error(key, "is '" + text + "', expected a whole number or one such as 64MiB");
  }
}
