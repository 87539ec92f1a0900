// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * As much of JSON Schema 2020-12 as {@code protocol.schema.json} uses; an unknown keyword is an
 * error.
 */
final class SchemaCheck {
  private static final Set<String> NOTES =
      Set.of(
          "$schema", "$defs", "title", "description", "default", "contentEncoding", "then", "else");

  private final JsonNode root;

  SchemaCheck(JsonNode root) {
    this.root = root;
  }

  boolean accepts(JsonNode value) {
    return accepts(root, value);
  }

  private boolean accepts(JsonNode schema, JsonNode value) {
    if (schema.isBoolean()) {
      return schema.booleanValue();
    }
    for (var keyword : schema.properties()) {
      if (!NOTES.contains(keyword.getKey())
          && !holds(keyword.getKey(), keyword.getValue(), schema, value)) {
        return false;
      }
    }
    return true;
  }

  private boolean holds(String keyword, JsonNode rule, JsonNode schema, JsonNode value) {
    return switch (keyword) {
      case "$ref" -> accepts(root.at(rule.textValue().substring(1)), value);
      case "type" -> isOfType(rule, value);
      case "const" -> rule.equals(value);
      case "enum" -> anyEquals(rule, value);
      case "minimum" ->
          !value.isNumber() || value.decimalValue().compareTo(rule.decimalValue()) >= 0;
      case "maximum" ->
          !value.isNumber() || value.decimalValue().compareTo(rule.decimalValue()) <= 0;
      case "exclusiveMinimum" ->
          !value.isNumber() || value.decimalValue().compareTo(rule.decimalValue()) > 0;
      case "pattern" ->
          !value.isTextual() || Pattern.compile(rule.textValue()).matcher(value.textValue()).find();
      case "minItems" -> !value.isArray() || value.size() >= rule.intValue();
      case "maxItems" -> !value.isArray() || value.size() <= rule.intValue();
      case "minProperties" -> !value.isObject() || value.size() >= rule.intValue();
      case "maxProperties" -> !value.isObject() || value.size() <= rule.intValue();
      case "uniqueItems" -> !value.isArray() || areUnique(value);
      case "items" -> !value.isArray() || all(rule, value);
      case "contains" -> !value.isArray() || any(rule, value);
      case "required" -> !value.isObject() || hasAll(value, rule);
      case "properties" -> propertiesHold(rule, value);
      case "additionalProperties" -> hasOnly(value, schema.path("properties"));
      case "dependentRequired" ->
          rule.properties().stream()
              .allMatch(e -> !value.has(e.getKey()) || hasAll(value, e.getValue()));
      case "anyOf" -> count(rule, value) >= 1;
      case "oneOf" -> count(rule, value) == 1;
      case "allOf" -> count(rule, value) == rule.size();
      case "if" -> {
        JsonNode next = schema.get(accepts(rule, value) ? "then" : "else");
        yield next == null || accepts(next, value);
      }
      default -> throw new AssertionError("the schema uses a keyword unknown here: " + keyword);
    };
  }

  private static boolean isOfType(JsonNode types, JsonNode value) {
    for (JsonNode type : types.isArray() ? types : List.of(types)) {
      boolean fits =
          switch (type.textValue()) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isTextual();
            case "boolean" -> value.isBoolean();
            case "null" -> value.isNull();
            case "number" -> value.isNumber();
            case "integer" -> value.isIntegralNumber();
            default -> throw new AssertionError("no type " + type);
          };
      if (fits) {
        return true;
      }
    }
    return false;
  }

  private static boolean anyEquals(JsonNode values, JsonNode value) {
    for (JsonNode one : values) {
      if (one.equals(value)) {
        return true;
      }
    }
    return false;
  }

  private static boolean areUnique(JsonNode array) {
    Set<JsonNode> seen = new HashSet<>();
    array.forEach(seen::add);
    return seen.size() == array.size();
  }

  private boolean all(JsonNode schema, JsonNode array) {
    for (JsonNode one : array) {
      if (!accepts(schema, one)) {
        return false;
      }
    }
    return true;
  }

  private boolean any(JsonNode schema, JsonNode array) {
    for (JsonNode one : array) {
      if (accepts(schema, one)) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasAll(JsonNode object, JsonNode names) {
    for (JsonNode name : names) {
      if (!object.has(name.textValue())) {
        return false;
      }
    }
    return true;
  }

  private boolean propertiesHold(JsonNode schemas, JsonNode value) {
    return schemas.properties().stream()
        .allMatch(e -> !value.has(e.getKey()) || accepts(e.getValue(), value.get(e.getKey())));
  }

  private static boolean hasOnly(JsonNode value, JsonNode known) {
    return value.properties().stream().allMatch(e -> known.has(e.getKey()));
  }

  private int count(JsonNode schemas, JsonNode value) {
    int fitting = 0;
    for (JsonNode schema : schemas) {
      fitting += accepts(schema, value) ? 1 : 0;
    }
    return fitting;
  }
}
