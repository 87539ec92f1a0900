// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PointId;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Random schemas, ids and values; few different ones, so that they meet again. */
final class RandomPoints {
  /** The int64 field {@code n} that filters speak of. */
  static final int NUMBER = 1;

  /** The utf8 field {@code s} that filters speak of. */
  static final int TEXT = 2;

  private static final HexFormat HEX = HexFormat.of();

  private final RandomGenerator random;

  RandomPoints(RandomGenerator random) {
    this.random = random;
  }

  CollectionSchema schema() {
    List<Field> fields = new ArrayList<>();
    fields.add(new PayloadField(NUMBER, "n", PayloadType.of(PayloadType.Kind.INT64)));
    fields.add(new PayloadField(TEXT, "s", PayloadType.of(PayloadType.Kind.UTF8)));
    int vectors = 1 + random.nextInt(2);
    for (int i = 0; i < vectors; i++) {
      fields.add(vectorField(3 + i, random.nextBoolean()));
    }
    int payload = random.nextInt(4);
    for (int i = 0; i < payload; i++) {
      fields.add(payloadField(3 + vectors + i));
    }
    IdType[] types = IdType.values();
    return new CollectionSchema(1, types[random.nextInt(types.length)], fields);
  }

  VectorField vectorField(int fieldId, boolean nullable) {
    VectorType type = VectorType.values()[random.nextInt(VectorType.values().length)];
    Metric metric = type == VectorType.BINARY ? Metric.HAMMING : Metric.values()[random.nextInt(3)];
    return new VectorField(fieldId, "v" + fieldId, type, 1 + random.nextInt(20), metric, nullable);
  }

  PayloadField payloadField(int fieldId) {
    PayloadType.Kind kind =
        PayloadType.Kind.values()[random.nextInt(PayloadType.Kind.values().length)];
    return new PayloadField(fieldId, "p" + fieldId, new PayloadType(kind, random.nextInt(4) == 0));
  }

  PointId id(IdType type, int of) {
    int n = random.nextInt(of);
    return switch (type) {
      case INT64 -> new PointId.Int64((n % 2 == 0 ? 1 : -1) * (long) n * 0x1_0000_0001L);
      case UTF8 -> new PointId.Utf8("id-" + "é".repeat(n % 4) + n);
      case UUID -> new PointId.Uuid(new UUID(0x8000_0000_0000_0000L * (n % 2) + n, n));
    };
  }

  /** A value of a field; null where that is allowed and chance has it. */
  Object value(Field field) {
    return switch (field) {
      case VectorField vector ->
          vector.nullable() && random.nextInt(4) == 0 ? null : vector(vector);
      case PayloadField payload -> random.nextInt(5) == 0 ? null : payload(payload);
    };
  }

  /** A vector that is not zero; one in four is one of a few, so that scores tie. */
  String vector(VectorField field) {
    RandomGenerator source =
        random.nextInt(4) == 0 ? new java.util.SplittableRandom(random.nextInt(3)) : random;
    ByteBuffer out = ByteBuffer.allocate(field.vectorBytes()).order(ByteOrder.LITTLE_ENDIAN);
    switch (field.type()) {
      case FLOAT32 -> {
        for (int i = 0; i < field.dimension(); i++) {
          out.putFloat(component(source));
        }
      }
      case FLOAT16 -> {
        for (int i = 0; i < field.dimension(); i++) {
          out.putShort(Float.floatToFloat16(component(source)));
        }
      }
      case BFLOAT16 -> {
        for (int i = 0; i < field.dimension(); i++) {
          out.putShort((short) (Float.floatToRawIntBits(component(source)) >>> 16));
        }
      }
      case INT8, UINT8 -> {
        for (int i = 0; i < field.dimension(); i++) {
          out.put((byte) (1 + source.nextInt(255)));
        }
      }
      case BINARY -> {
        source.nextBytes(out.array());
        int unused = field.vectorBytes() * 8 - field.dimension();
        byte[] bytes = out.array();
        bytes[bytes.length - 1] &= (byte) (0xff << unused);
      }
    }
    return HEX.formatHex(out.array());
  }

  private static float component(RandomGenerator source) {
    float value = (float) source.nextGaussian();
    return value == 0 ? 1 : value;
  }

  private Object payload(PayloadField field) {
    if (field.fieldId() == NUMBER) {
      return PlainRows.int64(random.nextInt(6) - 2);
    }
    if (field.fieldId() == TEXT) {
      return PlainRows.text("abc".substring(random.nextInt(4)));
    }
    if (!field.type().list()) {
      return scalar(field.type().kind());
    }
    List<Object> items = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      items.add(random.nextInt(5) == 0 ? null : scalar(field.type().kind()));
    }
    return items;
  }

  private Object scalar(PayloadType.Kind kind) {
    return switch (kind) {
      case BOOL -> random.nextBoolean() ? "01" : "00";
      case INT8, UINT8 -> bytes(1);
      case INT16, UINT16 -> bytes(2);
      case INT32, UINT32, DATE -> bytes(4);
      case INT64, UINT64, TIMESTAMP -> bytes(8);
      case FLOAT32 -> PlainRows.floats((float) random.nextGaussian());
      case FLOAT64 -> PlainRows.float64(random.nextGaussian());
      case UTF8 -> PlainRows.text("text é".repeat(random.nextInt(5)));
      case BINARY -> bytes(random.nextInt(30));
      case UUID -> bytes(16);
      case GEO ->
          List.of(
              PlainRows.float64(random.nextDouble(-90, 90)),
              PlainRows.float64(random.nextDouble(-180, 180)));
      case JSON -> PlainRows.text("{\"k\":" + random.nextInt(10) + "}");
    };
  }

  private String bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return HEX.formatHex(bytes);
  }
}
