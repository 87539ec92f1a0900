// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.LargeVarBinaryVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ViewVarBinaryVector;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.RepeatedTest;

/**
 * Random batches in every accepted spelling against a conversion of each value on its own in plain
 * Java: values are drawn as Java objects, written in a random Arrow type that can hold them, sent
 * through the log's form, read back by {@code getObject} and compared.
 */
@Seeded
class RandomRowsTest {
  private static final int DIMENSION = 5;

  /** A way to send a kind: the Arrow type and how to draw and write a value. */
  private record Spelling(
      ArrowType type, Draw draw, org.apache.arrow.vector.types.pojo.Field... children) {
    interface Draw {
      /** Writes a random value at {@code at} and returns what must be read back. */
      Object write(RandomGenerator random, FieldVector to, int at);
    }
  }

  private record Column(Field field, Object[] expected, FieldVector sent) {}

  @RepeatedTest(30)
  void everySpellingReadsBackAsItsLogicalValue(Seed seed) {
    RandomGenerator random = seed.random();
    DictionaryProvider.MapDictionaryProvider dictionaries =
        new DictionaryProvider.MapDictionaryProvider();
    try (BufferAllocator allocator = new RootAllocator()) {
      int rows = random.nextInt(1, 120);
      List<Column> columns = new ArrayList<>();
      for (PayloadType.Kind kind : PayloadType.Kind.values()) {
        columns.add(payload(random, columns.size() + 1, kind, rows, allocator, dictionaries));
        columns.add(lists(random, columns.size() + 1, kind, rows, allocator));
      }
      for (VectorType type : VectorType.values()) {
        columns.add(vectors(random, columns.size() + 1, type, rows, allocator));
      }
      CollectionSchema schema =
          new CollectionSchema(3, IdType.INT64, columns.stream().map(Column::field).toList());
      List<FieldVector> sent = new ArrayList<>(columns.stream().map(Column::sent).toList());
      sent.add(Sent.int64(allocator, "id", ids(rows)));
      java.util.Collections.shuffle(sent, new java.util.Random(random.nextLong()));
      try (VectorSchemaRoot batch = Sent.root(sent.toArray(FieldVector[]::new));
          VectorSchemaRoot back =
              Sent.canonical(schema, WriteMode.UPSERT, batch, dictionaries, allocator)) {
        for (Column column : columns) {
          FieldVector read = back.getVector(column.field.name());
          for (int row = 0; row < rows; row++) {
            assertThat(readBack(read, row))
                .as("%s, row %d, sent as %s", column.field, row, column.sent.getField())
                .isEqualTo(column.expected[row]);
          }
        }
      } finally {
        dictionaries.getDictionaryIds().forEach(id -> dictionaries.lookup(id).getVector().close());
      }
    }
  }

  private static Long[] ids(int rows) {
    Long[] ids = new Long[rows];
    Arrays.setAll(ids, i -> i * 7L - 3);
    return ids;
  }

  private Column payload(
      RandomGenerator random,
      int fieldId,
      PayloadType.Kind kind,
      int rows,
      BufferAllocator allocator,
      DictionaryProvider.MapDictionaryProvider dictionaries) {
    PayloadField field = new PayloadField(fieldId, "p" + fieldId, PayloadType.of(kind));
    Spelling spelling = pick(random, spellings(kind));
    if (random.nextInt(3) == 0) {
      return dictionary(random, field, spelling, rows, allocator, dictionaries);
    }
    FieldVector vector =
        Sent.field(field.name(), spelling.type, spelling.children).createVector(allocator);
    vector.allocateNew();
    Object[] expected = new Object[rows];
    for (int row = 0; row < rows; row++) {
      if (random.nextInt(4) > 0) {
        expected[row] = spelling.draw.write(random, vector, row);
      }
    }
    vector.setValueCount(rows);
    return new Column(field, expected, vector);
  }

  private Column dictionary(
      RandomGenerator random,
      PayloadField field,
      Spelling spelling,
      int rows,
      BufferAllocator allocator,
      DictionaryProvider.MapDictionaryProvider dictionaries) {
    int size = random.nextInt(1, 9);
    FieldVector values = Sent.field("d", spelling.type, spelling.children).createVector(allocator);
    values.allocateNew();
    Object[] drawn = new Object[size];
    for (int i = 0; i < size; i++) {
      drawn[i] = random.nextInt(5) == 0 ? null : spelling.draw.write(random, values, i);
    }
    values.setValueCount(size);
    ArrowType.Int indexType =
        new ArrowType.Int(random.nextBoolean() ? 8 : 32, random.nextBoolean());
    DictionaryEncoding encoding = new DictionaryEncoding(field.fieldId(), false, indexType);
    dictionaries.put(new Dictionary(values, encoding));
    FieldVector indices =
        new org.apache.arrow.vector.types.pojo.Field(
                field.name(), new FieldType(true, indexType, encoding), List.of())
            .createVector(allocator);
    indices.allocateNew();
    Object[] expected = new Object[rows];
    for (int row = 0; row < rows; row++) {
      if (random.nextInt(4) > 0) {
        int index = random.nextInt(size);
        ((BaseIntVector) indices).setWithPossibleTruncate(row, index);
        expected[row] = drawn[index];
      }
    }
    indices.setValueCount(rows);
    return new Column(field, expected, indices);
  }

  private Column lists(
      RandomGenerator random,
      int fieldId,
      PayloadType.Kind kind,
      int rows,
      BufferAllocator allocator) {
    PayloadField field = new PayloadField(fieldId, "l" + fieldId, PayloadType.listOf(kind));
    Spelling spelling = pick(random, spellings(kind));
    var item = Sent.field("item", spelling.type, spelling.children);
    int fixed = random.nextInt(1, 4);
    ArrowType listType =
        List.of(
                ArrowType.List.INSTANCE,
                ArrowType.LargeList.INSTANCE,
                new ArrowType.FixedSizeList(fixed))
            .get(random.nextInt(3));
    FieldVector vector = Sent.field(field.name(), listType, item).createVector(allocator);
    vector.setInitialCapacity(rows);
    vector.allocateNew();
    FieldVector items = vector.getChildrenFromFields().getFirst();
    items.setInitialCapacity(rows * 5); // Arrow's view vectors do not grow by themselves.
    items.allocateNew();
    Object[] expected = new Object[rows];
    int end = 0;
    for (int row = 0; row < rows; row++) {
      boolean isNull = random.nextInt(4) == 0;
      int length = listType instanceof ArrowType.FixedSizeList ? fixed : random.nextInt(5);
      if (isNull) {
        end += listType instanceof ArrowType.FixedSizeList ? fixed : 0;
        continue;
      }
      start(vector, row);
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < length; i++, end++) {
        values.add(random.nextInt(5) == 0 ? null : spelling.draw.write(random, items, end));
      }
      items.setValueCount(end);
      finish(vector, row, length);
      expected[row] = values;
    }
    vector.setValueCount(rows);
    return new Column(field, expected, vector);
  }

  private static void start(FieldVector vector, int row) {
    switch (vector) {
      case ListVector list -> list.startNewValue(row);
      case LargeListVector list -> list.startNewValue(row);
      default -> ((FixedSizeListVector) vector).setNotNull(row);
    }
  }

  private static void finish(FieldVector vector, int row, int length) {
    switch (vector) {
      case ListVector list -> list.endValue(row, length);
      case LargeListVector list -> list.endValue(row, length);
      default -> {}
    }
  }

  private Column vectors(
      RandomGenerator random, int fieldId, VectorType type, int rows, BufferAllocator allocator) {
    Metric metric = type == VectorType.BINARY ? Metric.HAMMING : Metric.DOT;
    VectorField field = new VectorField(fieldId, "v" + fieldId, type, DIMENSION, metric, true);
    if (type == VectorType.BINARY && random.nextInt(3) == 0) {
      return packedBits(random, field, rows, allocator);
    }
    Spelling spelling = pick(random, componentSpellings(type));
    var item = Sent.field("item", spelling.type);
    ArrowType listType =
        List.of(
                ArrowType.List.INSTANCE,
                ArrowType.LargeList.INSTANCE,
                new ArrowType.FixedSizeList(DIMENSION))
            .get(random.nextInt(3));
    FieldVector vector = Sent.field(field.name(), listType, item).createVector(allocator);
    vector.setInitialCapacity(rows);
    vector.allocateNew();
    FieldVector items = vector.getChildrenFromFields().getFirst();
    Object[] expected = new Object[rows];
    int end = 0;
    for (int row = 0; row < rows; row++) {
      if (random.nextInt(5) == 0) {
        end += listType instanceof ArrowType.FixedSizeList ? DIMENSION : 0;
        continue;
      }
      start(vector, row);
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < DIMENSION; i++, end++) {
        values.add(spelling.draw.write(random, items, end));
      }
      items.setValueCount(end);
      finish(vector, row, DIMENSION);
      expected[row] = type == VectorType.BINARY ? HexFormat.of().formatHex(bits(values)) : values;
    }
    if (listType instanceof ArrowType.FixedSizeList) {
      items.setValueCount(rows * DIMENSION);
    }
    vector.setValueCount(rows);
    return new Column(field, expected, vector);
  }

  private Column packedBits(
      RandomGenerator random, VectorField field, int rows, BufferAllocator allocator) {
    FixedSizeBinaryVector vector =
        (FixedSizeBinaryVector)
            Sent.field(field.name(), new ArrowType.FixedSizeBinary(1)).createVector(allocator);
    vector.allocateNew(rows);
    Object[] expected = new Object[rows];
    for (int row = 0; row < rows; row++) {
      byte[] value = {(byte) (random.nextInt(32) << 3)};
      vector.set(row, value);
      expected[row] = HexFormat.of().formatHex(value);
    }
    vector.setValueCount(rows);
    return new Column(field, expected, vector);
  }

  private static byte[] bits(List<Object> values) {
    byte[] bytes = new byte[1];
    for (int i = 0; i < values.size(); i++) {
      bytes[0] |= (byte) ((Integer) values.get(i) << (7 - i));
    }
    return bytes;
  }

  private static Spelling pick(RandomGenerator random, List<Spelling> spellings) {
    return spellings.get(random.nextInt(spellings.size()));
  }

  // What can be sent for which component type.

  private static List<Spelling> componentSpellings(VectorType type) {
    return switch (type) {
      case FLOAT32 ->
          List.of(
              new Spelling(Sent.FLOAT32, (r, v, i) -> put32(v, i, r.nextFloat(-9, 9))),
              new Spelling(Sent.FLOAT16, (r, v, i) -> put16(v, i, r)),
              new Spelling(
                  Sent.FLOAT64, (r, v, i) -> round(put64(v, i, r.nextDouble(-9, 9)), 24, -149)));
      case FLOAT16 ->
          List.of(
              new Spelling(Sent.FLOAT16, (r, v, i) -> Float.floatToFloat16(put16(v, i, r))),
              new Spelling(
                  Sent.FLOAT32,
                  (r, v, i) ->
                      Float.floatToFloat16(round(put32(v, i, r.nextFloat(-9, 9)), 11, -24))),
              new Spelling(
                  Sent.FLOAT64,
                  (r, v, i) -> Float.floatToFloat16(round(put64(v, i, nearTie(r)), 11, -24))));
      case BFLOAT16 ->
          List.of(
              new Spelling(
                  new ArrowType.FixedSizeBinary(2),
                  (r, v, i) -> {
                    byte[] bytes = {(byte) r.nextInt(), (byte) r.nextInt(0x40)};
                    ((FixedSizeBinaryVector) v).setSafe(i, bytes);
                    return HexFormat.of().formatHex(bytes);
                  }),
              new Spelling(
                  Sent.FLOAT64, (r, v, i) -> bfloat(round(put64(v, i, nearTie(r)), 8, -133))),
              new Spelling(
                  Sent.FLOAT32,
                  (r, v, i) -> bfloat(round(put32(v, i, r.nextFloat(-9, 9)), 8, -133))));
      case INT8 -> List.of(integer(8, true, -128, 127));
      case UINT8 -> List.of(integer(8, false, 0, 255));
      case BINARY ->
          List.of(
              new Spelling(
                  ArrowType.Bool.INSTANCE,
                  (r, v, i) -> {
                    int bit = r.nextInt(2);
                    ((BitVector) v).setSafe(i, bit);
                    return bit;
                  }),
              new Spelling(
                  new ArrowType.Int(8, false),
                  (r, v, i) -> {
                    int bit = r.nextInt(2);
                    ((BaseIntVector) v).setWithPossibleTruncate(i, bit);
                    return bit;
                  }));
    };
  }

  /** Doubles that lie just beside ties of few-bit floats, where rounding twice goes wrong. */
  private static double nearTie(RandomGenerator random) {
    double value = Math.scalb(random.nextInt(1 << 12), random.nextInt(-30, -8));
    return switch (random.nextInt(3)) {
      case 0 -> Math.nextUp(value);
      case 1 -> Math.nextDown(value);
      default -> value;
    };
  }

  /**
   * Rounds to nearest even with {@code bits} of precision and exponents from {@code min}, exactly.
   */
  private static float round(double value, int bits, int min) {
    if (value == 0) {
      return (float) value;
    }
    int exponent = Math.max(Math.getExponent(value) - bits + 1, min);
    BigDecimal unit = new BigDecimal(2).pow(exponent, new MathContext(400));
    BigDecimal quotient = new BigDecimal(value).divide(unit, new MathContext(400));
    BigDecimal rounded = quotient.setScale(0, RoundingMode.HALF_EVEN).multiply(unit);
    return rounded.signum() == 0 && value < 0 ? -0f : rounded.floatValue();
  }

  private static String bfloat(float exact) {
    int bits = Float.floatToRawIntBits(exact) >>> 16;
    return HexFormat.of().formatHex(new byte[] {(byte) bits, (byte) (bits >> 8)});
  }

  private static float put32(FieldVector to, int at, float value) {
    ((Float4Vector) to).setSafe(at, value);
    return value;
  }

  private static float put16(FieldVector to, int at, RandomGenerator random) {
    short half = Float.floatToFloat16(random.nextFloat(-9, 9));
    ((Float2Vector) to).setSafe(at, half);
    return Float.float16ToFloat(half);
  }

  private static double put64(FieldVector to, int at, double value) {
    ((Float8Vector) to).setSafe(at, value);
    return value;
  }

  // What can be sent for which kind of payload.

  private static List<Spelling> spellings(PayloadType.Kind kind) {
    return switch (kind) {
      case BOOL ->
          List.of(
              new Spelling(
                  ArrowType.Bool.INSTANCE,
                  (r, v, i) -> {
                    boolean bit = r.nextBoolean();
                    ((BitVector) v).setSafe(i, bit ? 1 : 0);
                    return bit;
                  }));
      case INT8 -> integers(Byte.MIN_VALUE, Byte.MAX_VALUE);
      case INT16 -> integers(Short.MIN_VALUE, Short.MAX_VALUE);
      case INT32 -> integers(Integer.MIN_VALUE, Integer.MAX_VALUE);
      case INT64 -> integers(Long.MIN_VALUE, Long.MAX_VALUE);
      case UINT8 -> integers(0, 0xff);
      case UINT16 -> integers(0, 0xffff);
      case UINT32 -> integers(0, 0xffff_ffffL);
      case UINT64 -> {
        List<Spelling> all = new ArrayList<>(integers(0, Long.MAX_VALUE));
        all.add(
            new Spelling(
                new ArrowType.Int(64, false),
                (r, v, i) -> {
                  long value = r.nextLong();
                  ((UInt8Vector) v).setSafe(i, value);
                  return new BigInteger(Long.toUnsignedString(value));
                }));
        yield all;
      }
      case FLOAT32 ->
          List.of(
              new Spelling(Sent.FLOAT16, (r, v, i) -> put16(v, i, r)),
              new Spelling(Sent.FLOAT32, (r, v, i) -> put32(v, i, r.nextFloat(-1e30f, 1e30f))),
              new Spelling(Sent.FLOAT32, (r, v, i) -> put32(v, i, Float.NEGATIVE_INFINITY)),
              new Spelling(
                  new ArrowType.Int(16, true),
                  (r, v, i) -> (float) putInteger(v, i, r.nextInt(-32768, 32768))));
      case FLOAT64 ->
          List.of(
              new Spelling(Sent.FLOAT16, (r, v, i) -> (double) put16(v, i, r)),
              new Spelling(Sent.FLOAT32, (r, v, i) -> (double) put32(v, i, r.nextFloat(-9, 9))),
              new Spelling(Sent.FLOAT64, (r, v, i) -> put64(v, i, r.nextDouble(-1e300, 1e300))),
              new Spelling(
                  new ArrowType.Int(32, false),
                  (r, v, i) -> (double) putInteger(v, i, r.nextLong(1L << 32))));
      case UTF8 -> texts(RandomRowsTest::text);
      case JSON -> texts(r -> "{\"a b\": [1, 2.50, \"" + r.nextInt(99) + "\\u00e9\"]}");
      case BINARY ->
          List.of(
              new Spelling(
                  ArrowType.Binary.INSTANCE, (r, v, i) -> putBinary(v, i, bytes(r, r.nextInt(20)))),
              new Spelling(
                  ArrowType.LargeBinary.INSTANCE,
                  (r, v, i) -> putBinary(v, i, bytes(r, r.nextInt(20)))),
              new Spelling(
                  ArrowType.BinaryView.INSTANCE,
                  (r, v, i) -> putBinary(v, i, bytes(r, r.nextInt(40)))),
              new Spelling(
                  new ArrowType.FixedSizeBinary(3), (r, v, i) -> putBinary(v, i, bytes(r, 3))));
      case DATE ->
          List.of(
              new Spelling(
                  new ArrowType.Date(DateUnit.DAY),
                  (r, v, i) -> {
                    int day = r.nextInt();
                    ((DateDayVector) v).setSafe(i, day);
                    return day;
                  }),
              new Spelling(
                  new ArrowType.Date(DateUnit.MILLISECOND),
                  (r, v, i) -> {
                    int day = r.nextInt();
                    ((DateMilliVector) v).setSafe(i, day * 86_400_000L);
                    return day;
                  }));
      case TIMESTAMP ->
          List.of(
              timestamp(TimeUnit.SECOND, null, 1_000_000, 1),
              timestamp(TimeUnit.MILLISECOND, "Asia/Tokyo", 1_000, 1),
              timestamp(TimeUnit.MICROSECOND, "UTC", 1, 1),
              timestamp(TimeUnit.MICROSECOND, "+02:00", 1, 1),
              timestamp(TimeUnit.MICROSECOND, null, 1, 1),
              timestamp(TimeUnit.NANOSECOND, null, 1, 1_000));
      case UUID -> {
        List<Spelling> all =
            new ArrayList<>(
                texts(r -> new UUID(r.nextLong(), r.nextLong()).toString()).stream()
                    .map(RandomRowsTest::uuidText)
                    .toList());
        all.add(
            new Spelling(
                new ArrowType.FixedSizeBinary(16), (r, v, i) -> putBinary(v, i, bytes(r, 16))));
        yield all;
      }
      case GEO ->
          List.of(
              geo(Sent.FLOAT64, "lat", "lon"),
              geo(Sent.FLOAT64, "lon", "lat"),
              geo(Sent.FLOAT32, "lat", "lon"));
    };
  }

  private static Spelling uuidText(Spelling text) {
    return new Spelling(
        text.type,
        (r, v, i) -> {
          UUID uuid = UUID.fromString((String) text.draw.write(r, v, i));
          return HexFormat.of()
              .formatHex(
                  ByteBuffer.allocate(16)
                      .putLong(uuid.getMostSignificantBits())
                      .putLong(uuid.getLeastSignificantBits())
                      .array());
        });
  }

  /** Every integer type, with values that fit both it and the field. */
  private static List<Spelling> integers(long min, long max) {
    List<Spelling> all = new ArrayList<>();
    for (int bits : new int[] {8, 16, 32, 64}) {
      long high = bits == 64 ? Long.MAX_VALUE : (1L << (bits - 1)) - 1;
      all.add(integer(bits, true, Math.max(min, -high - 1), Math.min(max, high)));
      long unsigned = bits == 64 ? Long.MAX_VALUE : (1L << bits) - 1;
      all.add(integer(bits, false, Math.max(min, 0), Math.min(max, unsigned)));
    }
    return all;
  }

  private static Spelling integer(int bits, boolean signed, long min, long max) {
    return new Spelling(
        new ArrowType.Int(bits, signed),
        (r, v, i) -> {
          long value =
              switch (r.nextInt(4)) {
                case 0 -> min;
                case 1 -> max;
                default -> max == Long.MAX_VALUE ? r.nextLong(min, max) : r.nextLong(min, max + 1);
              };
          return BigInteger.valueOf(putInteger(v, i, value));
        });
  }

  private static long putInteger(FieldVector to, int at, long value) {
    ((BaseIntVector) to).setWithPossibleTruncate(at, value);
    return value;
  }

  private static List<Spelling> texts(java.util.function.Function<RandomGenerator, String> draw) {
    return List.of(
        new Spelling(ArrowType.Utf8.INSTANCE, (r, v, i) -> putText(v, i, draw.apply(r))),
        new Spelling(ArrowType.LargeUtf8.INSTANCE, (r, v, i) -> putText(v, i, draw.apply(r))),
        new Spelling(ArrowType.Utf8View.INSTANCE, (r, v, i) -> putText(v, i, draw.apply(r))));
  }

  private static String text(RandomGenerator random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      text.appendCodePoint(
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(0x80);
            case 1 -> random.nextInt(0x80, 0x800);
            case 2 -> random.nextInt(0xe000, 0x1_0000);
            default -> random.nextInt(0x1_0000, 0x11_0000);
          });
    }
    return text.toString();
  }

  private static Object putText(FieldVector to, int at, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    switch (to) {
      case VarCharVector v -> v.setSafe(at, bytes);
      case LargeVarCharVector v -> v.setSafe(at, bytes);
      default -> ((ViewVarCharVector) to).setSafe(at, bytes);
    }
    return value;
  }

  private static byte[] bytes(RandomGenerator random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static Object putBinary(FieldVector to, int at, byte[] bytes) {
    switch (to) {
      case VarBinaryVector v -> v.setSafe(at, bytes);
      case LargeVarBinaryVector v -> v.setSafe(at, bytes);
      case ViewVarBinaryVector v -> v.setSafe(at, bytes);
      default -> ((FixedSizeBinaryVector) to).setSafe(at, bytes);
    }
    return HexFormat.of().formatHex(bytes);
  }

  private static Spelling timestamp(TimeUnit unit, String zone, long micros, long perMicro) {
    return new Spelling(
        new ArrowType.Timestamp(unit, zone),
        (r, v, i) -> {
          long value = r.nextLong(-4_000_000_000L, 4_000_000_000L);
          ((TimeStampVector) v).setSafe(i, value * perMicro);
          return value * micros;
        });
  }

  private static Spelling geo(ArrowType coordinate, String first, String second) {
    return new Spelling(
        ArrowType.Struct.INSTANCE,
        (r, v, i) -> {
          StructVector points = (StructVector) v;
          double lat = coordinate(points.getChild("lat"), i, r.nextDouble(-90, 90));
          double lon = coordinate(points.getChild("lon"), i, r.nextDouble(-180, 180));
          points.setIndexDefined(i);
          return List.of(lat, lon);
        },
        Sent.field(first, coordinate),
        Sent.field(second, coordinate));
  }

  private static double coordinate(org.apache.arrow.vector.ValueVector to, int at, double value) {
    if (to instanceof Float4Vector single) {
      single.setSafe(at, (float) value);
      return (float) value;
    }
    ((Float8Vector) to).setSafe(at, value);
    return value;
  }

  /** A canonical value in terms of the draws above. */
  private static Object readBack(FieldVector vector, int at) {
    if (vector.isNull(at)) {
      return null;
    }
    return switch (vector) {
      case BitVector v -> v.get(at) == 1;
      case UInt8Vector v -> new BigInteger(Long.toUnsignedString(v.get(at)));
      case BaseIntVector v -> BigInteger.valueOf(v.getValueAsLong(at));
      case Float2Vector v -> v.get(at);
      case VarCharVector v -> new String(v.get(at), StandardCharsets.UTF_8);
      case VarBinaryVector v -> HexFormat.of().formatHex(v.get(at));
      case FixedSizeBinaryVector v -> HexFormat.of().formatHex(v.get(at));
      case DateDayVector v -> v.get(at);
      case TimeStampVector v -> v.get(at);
      case StructVector v ->
          List.of(v.getChild("lat").getObject(at), v.getChild("lon").getObject(at));
      case ListVector v ->
          items(v.getDataVector(), v.getElementStartIndex(at), v.getElementEndIndex(at));
      case FixedSizeListVector v ->
          items(v.getDataVector(), at * v.getListSize(), (at + 1) * v.getListSize());
      default -> vector.getObject(at);
    };
  }

  private static List<Object> items(FieldVector items, int from, int to) {
    List<Object> values = new ArrayList<>();
    for (int i = from; i < to; i++) {
      values.add(readBack(items, i));
    }
    return values;
  }
}
