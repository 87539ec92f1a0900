// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.sagitta.flight.JsonMistake;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.PayloadType;
import io.sagitta.model.Reason;
import io.sagitta.model.Utf8;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.StructVector;

/** Looks at one canonical value that is not null; not every bit pattern of its type is a value. */
interface ValueCheck {
  void check(FieldVector vector, int at) throws BadValueException;

  /** The check of a kind; empty where every bit pattern is a value. */
  static Optional<ValueCheck> of(PayloadType.Kind kind) {
    return switch (kind) {
      case UTF8 -> Optional.of(ValueCheck::text);
      case JSON -> Optional.of(ValueCheck::json);
      case GEO -> Optional.of(ValueCheck::geo);
      case BOOL,
          INT8,
          INT16,
          INT32,
          INT64,
          UINT8,
          UINT16,
          UINT32,
          UINT64,
          FLOAT32,
          FLOAT64,
          BINARY,
          DATE,
          TIMESTAMP,
          UUID ->
          Optional.empty();
    };
  }

  private static void text(FieldVector vector, int at) throws BadValueException {
    VarCharVector texts = (VarCharVector) vector;
    int length = texts.getValueLength(at);
    if (length == 0) {
      return;
    }
    MemorySegment bytes =
        Memory.of(texts.getDataBuffer()).asSlice(texts.getStartOffset(at), length);
    int invalid = Utf8.firstInvalid(bytes);
    if (invalid >= 0) {
      throw new BadValueException("is not valid UTF-8 at byte " + invalid);
    }
  }

  private static void json(FieldVector vector, int at) throws BadValueException {
    text(vector, at);
    try (JsonParser parser = Json.FACTORY.createParser(((VarCharVector) vector).get(at))) {
      JsonToken first = parser.nextToken();
      parser.skipChildren();
      if (first == null || parser.nextToken() != null) {
        throw new BadValueException("is not one JSON document");
      }
    } catch (IOException e) {
      throw new BadValueException(
          "is not JSON: "
              + (e instanceof JsonProcessingException json
                  ? JsonMistake.describe(json)
                  : Reason.of(e)));
    }
  }

  /** Latitude and longitude are there and in range. */
  static void geo(FieldVector vector, int at) throws BadValueException {
    StructVector points = (StructVector) vector;
    coordinate(points, ArrowSchemas.GEO_CHILDREN.get(0), at, 90);
    coordinate(points, ArrowSchemas.GEO_CHILDREN.get(1), at, 180);
  }

  private static void coordinate(StructVector points, String child, int at, int max)
      throws BadValueException {
    Float8Vector values = points.getChild(child, Float8Vector.class);
    if (values.isNull(at)) {
      throw new BadValueException(child + " is null, expected a number");
    }
    double value = values.get(at);
    if (!(value >= -max && value <= max)) {
      throw new BadValueException("%s is %s, expected -%d to %d".formatted(child, value, max, max));
    }
  }

  /** Holder of the parser factory, which is costly and shared. */
  final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}
  }
}
