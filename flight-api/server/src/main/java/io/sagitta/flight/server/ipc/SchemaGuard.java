// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server.ipc;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Bounds what a schema message may make of itself. Tables of a flatbuffer may share their children,
 * so that a kilobyte can stand for 2^30 fields: they are counted before anything is built from
 * them.
 */
final class SchemaGuard {
  /** Fields of a stream, those within lists and structs included. */
  static final int FIELDS_MAX = 4_096;

  private static final int DEPTH_MAX = 16;

  private SchemaGuard() {}

  /** Counts the fields of the message as it lies. */
  static void checkSize(org.apache.arrow.flatbuf.Schema schema) {
    int left = FIELDS_MAX;
    for (int i = 0; i < schema.fieldsLength(); i++) {
      left = count(schema.fields(i), left, DEPTH_MAX);
    }
    if (schema.customMetadataLength() > FIELDS_MAX) {
      throw tooLarge();
    }
  }

  private static int count(org.apache.arrow.flatbuf.Field field, int left, int depth) {
    if (left <= 0 || depth <= 0 || field.customMetadataLength() > FIELDS_MAX) {
      throw tooLarge();
    }
    int remaining = left - 1;
    for (int i = 0; i < field.childrenLength(); i++) {
      remaining = count(field.children(i), remaining, depth - 1);
    }
    return remaining;
  }

  private static SagittaException tooLarge() {
    return new SagittaException(
        ErrorCode.LIMIT,
        "the stream's schema has more than "
            + FIELDS_MAX
            + " fields, or fields nested deeper than "
            + DEPTH_MAX);
  }

  /** Refuses, by column and type, layouts that no field of a collection could come from. */
  static void checkTypes(Schema schema) {
    for (Field column : schema.getFields()) {
      checkType(column, column);
    }
  }

  private static void checkType(Field column, Field field) {
    boolean accepted =
        switch (field.getType().getTypeID()) {
          case Union, Utf8View, BinaryView, ListView, LargeListView, RunEndEncoded, NONE -> false;
          default -> true;
        };
    if (!accepted) {
      throw SagittaException.invalid(
          "column "
              + Names.quote(column.getName())
              + " has type "
              + text(field.getType())
              + ", which is not accepted");
    }
    for (Field child : field.getChildren()) {
      checkType(column, child);
    }
  }

  private static String text(ArrowType type) {
    return type.getTypeID().name();
  }
}
