// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import java.util.Locale;

/**
 * Ids as typed. The shell has no types, so the collection's id type decides what {@code 123} is: a
 * number, or a text of three digits.
 */
final class PointIds {
  private PointIds() {}

  /** The type of a collection's ids, from its description. */
  static IdType typeOf(JsonNode description) {
    String text = description.path("id").asText();
    for (IdType type : IdType.values()) {
      if (type.name().toLowerCase(Locale.ROOT).equals(text)) {
        return type;
      }
    }
    throw new IllegalStateException("the description has no id type: " + description);
  }

  /** The id as it stands in a request, digit for digit; what does not fit is refused. */
  static JsonNode json(IdType type, String text) {
    try {
      return switch (PointId.parse(type, text)) {
        case PointId.Int64 id -> JsonNodeFactory.instance.numberNode(id.value());
        case PointId.Utf8 id -> JsonNodeFactory.instance.textNode(id.value());
        case PointId.Uuid id -> JsonNodeFactory.instance.textNode(id.toString());
      };
    } catch (SagittaException e) {
      throw new SagittaException(e.code(), "ID: " + e.getMessage(), e);
    }
  }
}
