// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RowNormaliserTest {
  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void nothingLeaks() {
    allocator.close();
  }

  private static VectorField vector(VectorType type, int dimension, Metric metric) {
    return new VectorField(1, "v", type, dimension, metric, false);
  }

  private static CollectionSchema schema(IdType ids, io.sagitta.model.Field... fields) {
    return new CollectionSchema(1, ids, List.of(fields));
  }

  private static CollectionSchema l2(int dimension) {
    return schema(
        IdType.INT64,
        vector(VectorType.FLOAT32, dimension, Metric.L2),
        new PayloadField(2, "tag", PayloadType.of(PayloadType.Kind.UTF8)));
  }

  /**
   * Normalises and closes the batch; the answer is what {@code read} makes of the canonical rows.
   */
  private <T> T through(
      CollectionSchema schema,
      WriteMode mode,
      VectorSchemaRoot batch,
      Function<VectorSchemaRoot, T> read) {
    try (batch;
        VectorSchemaRoot rows = Sent.canonical(schema, mode, batch, null, allocator)) {
      return read.apply(rows);
    }
  }

  private void assertRefused(
      CollectionSchema schema, WriteMode mode, VectorSchemaRoot batch, String... words) {
    try (batch) {
      assertThatThrownBy(() -> Sent.canonical(schema, mode, batch, null, allocator))
          .isInstanceOf(SagittaException.class)
          .satisfies(
              e -> assertThat(((SagittaException) e).code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
          .message()
          .contains(words);
    }
  }

  private void assertRefused(CollectionSchema schema, VectorSchemaRoot batch, String... words) {
    assertRefused(schema, WriteMode.UPSERT, batch, words);
  }

  @Test
  void columnsMayComeInAnyOrder() {
    VectorSchemaRoot batch =
        Sent.root(
            Sent.utf8(allocator, "tag", "a", null),
            Sent.fixedList(allocator, "v", 2, new float[] {1, 2}, new float[] {3, 4}),
            Sent.int64(allocator, "id", 7L, 8L));
    List<Object> row =
        through(
            l2(2),
            WriteMode.UPSERT,
            batch,
            rows -> {
              assertThat(rows.getVector("tag").isNull(1)).isTrue();
              return List.of(
                  rows.getVector("id").getObject(1),
                  rows.getVector("v").getObject(1).toString(),
                  rows.getVector("tag").getObject(0).toString());
            });
    assertThat(row).containsExactly(8L, "[3.0,4.0]", "a");
  }

  @Test
  @Tag("B054")
  void anUnknownColumnIsRefusedByName() {
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(allocator, "id", 1L),
            Sent.fixedList(allocator, "v", 2, new float[] {1, 2}),
            Sent.utf8(allocator, "colour", "red"));
    assertRefused(l2(2), batch, "unknown column 'colour'", "tag");
  }

  @Test
  void aColumnSentTwiceIsRefused() {
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(allocator, "id", 1L),
            Sent.utf8(allocator, "tag", "a"),
            Sent.utf8(allocator, "tag", "b"));
    assertRefused(l2(2), WriteMode.UPDATE, batch, "'tag' is sent twice");
  }

  @Test
  void aMissingIdColumnIsRefused() {
    VectorSchemaRoot batch = Sent.root(Sent.fixedList(allocator, "v", 2, new float[] {1, 2}));
    assertRefused(l2(2), batch, "column 'id' is missing");
  }

  @Test
  void aNullIdIsRefusedNamingTheRow() {
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(allocator, "id", 1L, null),
            Sent.fixedList(allocator, "v", 2, new float[] {1, 2}, new float[] {1, 2}));
    assertRefused(l2(2), batch, "row 1, column 'id': is null");
  }

  @Test
  void aVectorFieldThatIsNotNullableMustBeSent() {
    VectorSchemaRoot batch =
        Sent.root(Sent.int64(allocator, "id", 1L), Sent.utf8(allocator, "tag", "a"));
    assertRefused(l2(2), batch, "column 'v' is missing");
  }

  @Test
  void anUpdateLeavesFieldsThatAreNotSentAlone() {
    VectorSchemaRoot batch =
        Sent.root(Sent.int64(allocator, "id", 1L), Sent.utf8(allocator, "tag", "a"));
    List<String> columns =
        through(
            l2(2),
            WriteMode.UPDATE,
            batch,
            rows -> rows.getSchema().getFields().stream().map(f -> f.getName()).toList());
    assertThat(columns).containsExactly("id", "tag");
  }

  @Test
  void aDeleteLooksAtIdsOnly() {
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(allocator, "id", 1L),
            Sent.fixedList(allocator, "v", 3, new float[] {Float.NaN, 2, 3}));
    int columns = through(l2(2), WriteMode.DELETE, batch, r -> r.getFieldVectors().size());
    assertThat(columns).isEqualTo(1);
  }

  @Test
  void conditionsMayBeNullButNotNegative() {
    VectorSchemaRoot good =
        Sent.root(
            Sent.int64(allocator, "id", 1L, 2L, 3L),
            Sent.int64(allocator, "_if_version", 5L, null, 0L));
    long version =
        through(
            l2(2), WriteMode.DELETE, good, r -> ((BigIntVector) r.getVector("_if_version")).get(0));
    assertThat(version).isEqualTo(5);

    VectorSchemaRoot bad =
        Sent.root(
            Sent.int64(allocator, "id", 1L, 2L), Sent.int64(allocator, "_if_version", 5L, -1L));
    assertRefused(l2(2), WriteMode.DELETE, bad, "row 1, column '_if_version': -1 is negative");
  }

  @Test
  @Tag("B015")
  void aWrongDimensionIsRefusedWhateverTheKindOfList() {
    VectorSchemaRoot fixed =
        Sent.root(
            Sent.int64(allocator, "id", 1L),
            Sent.fixedList(allocator, "v", 3, new float[] {1, 2, 3}));
    assertRefused(l2(4), fixed, "column 'v': has dimension 3, expected 4");

    float[] good = {1, 2, 3, 4};
    VectorSchemaRoot lists =
        Sent.root(
            Sent.int64(allocator, "id", 1L, 2L, 3L),
            Sent.list(allocator, "v", good, good, new float[] {1, 2, 3}));
    assertRefused(l2(4), lists, "row 2, column 'v': has dimension 3, expected 4");

    VectorSchemaRoot empty =
        Sent.root(Sent.int64(allocator, "id", 1L), Sent.list(allocator, "v", new float[] {}));
    assertRefused(l2(4), empty, "row 0, column 'v': has dimension 0, expected 4");
  }

  @Test
  void aNullVectorIsRefusedUnlessTheFieldIsNullable() {
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(allocator, "id", 1L, 2L),
            Sent.fixedList(allocator, "v", 2, new float[] {1, 2}, null));
    assertRefused(l2(2), batch, "row 1, column 'v': is null, expected a vector");

    CollectionSchema nullable =
        schema(IdType.INT64, new VectorField(1, "v", VectorType.FLOAT32, 2, Metric.COSINE, true));
    VectorSchemaRoot again =
        Sent.root(
            Sent.int64(allocator, "id", 1L, 2L),
            Sent.fixedList(allocator, "v", 2, new float[] {1, 2}, null));
    boolean kept = through(nullable, WriteMode.UPSERT, again, r -> r.getVector("v").isNull(1));
    assertThat(kept).isTrue();
  }

  @Test
  void aNullComponentIsRefused() {
    FixedSizeListVector vectors =
        Sent.fixedList(allocator, "v", 2, new float[] {1, 2}, new float[] {3, 4});
    ((Float4Vector) vectors.getDataVector()).setNull(3);
    VectorSchemaRoot batch = Sent.root(Sent.int64(allocator, "id", 1L, 2L), vectors);
    assertRefused(l2(2), batch, "row 1, column 'v': component 1 is null");
  }

  @Test
  @Tag("B010")
  void componentsThatAreNotFiniteAreRefusedNamingThem() {
    for (int dimension : new int[] {1, 3, 7, 8, 15, 17, 100}) {
      for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
        float[] good = new float[dimension];
        float[] spoiled = new float[dimension];
        spoiled[dimension - 1] = bad;
        VectorSchemaRoot batch =
            Sent.root(
                Sent.int64(allocator, "id", 1L, 2L),
                Sent.fixedList(allocator, "v", dimension, good, spoiled));
        assertRefused(
            l2(dimension), batch, "row 1, column 'v': component " + (dimension - 1) + " is " + bad);
      }
    }
  }

  @Test
  @Tag("B009")
  void aZeroVectorHasNoDirection() {
    CollectionSchema cosine = schema(IdType.INT64, vector(VectorType.FLOAT32, 3, Metric.COSINE));
    VectorSchemaRoot batch =
        Sent.root(
            Sent.int64(allocator, "id", 1L, 2L),
            Sent.fixedList(allocator, "v", 3, new float[] {0, 0, 1e-38f}, new float[] {0, -0f, 0}));
    assertRefused(cosine, batch, "row 1, column 'v': is a zero vector");

    VectorSchemaRoot l2 =
        Sent.root(Sent.int64(allocator, "id", 1L), Sent.fixedList(allocator, "v", 3, new float[3]));
    int rows = through(l2(3), WriteMode.UPSERT, l2, VectorSchemaRoot::getRowCount);
    assertThat(rows).isEqualTo(1);
  }

  @Test
  @Tag("B012")
  void float16OverflowIsRefusedAndTheLargestValueIsNot() {
    CollectionSchema half = schema(IdType.INT64, vector(VectorType.FLOAT16, 4, Metric.L2));
    for (float fits : new float[] {65504, 65519.99f, 6e-8f, -65504}) {
      VectorSchemaRoot batch =
          Sent.root(
              Sent.int64(allocator, "id", 1L),
              Sent.fixedList(allocator, "v", 4, new float[] {fits, 0, 0, 0}));
      short stored =
          through(
              half,
              WriteMode.UPSERT,
              batch,
              r ->
                  ((Float2Vector) ((FixedSizeListVector) r.getVector("v")).getDataVector()).get(0));
      assertThat(stored).isEqualTo(Float.floatToFloat16(fits)).isNotZero();
    }
    for (float large : new float[] {65520, 70000, -65520}) {
      VectorSchemaRoot batch =
          Sent.root(
              Sent.int64(allocator, "id", 1L),
              Sent.fixedList(allocator, "v", 4, new float[] {0, large, 0, 0}));
      assertRefused(half, batch, "row 0, column 'v': component 1 is", "float16", "65504");
    }
  }

  @Test
  @Tag("B012")
  void bfloat16BytesAreNoFloat16() {
    CollectionSchema half = schema(IdType.INT64, vector(VectorType.FLOAT16, 4, Metric.L2));
    FieldVector bytes =
        Sent.fixedListField("v", 4, new ArrowType.FixedSizeBinary(2)).createVector(allocator);
    bytes.allocateNew();
    ((FixedSizeListVector) bytes).setNotNull(0);
    for (int i = 0; i < 4; i++) {
      ((FixedSizeBinaryVector) ((FixedSizeListVector) bytes).getDataVector())
          .setSafe(i, new byte[2]);
    }
    bytes.setValueCount(1);
    assertRefused(
        half,
        Sent.root(Sent.int64(allocator, "id", 1L), bytes),
        "column 'v': type",
        "FixedSizeBinary(2)",
        "expected lists of 4 float16");
  }

  @Test
  void theFirstComponentOfABinaryVectorIsTheMostSignificantBit() {
    CollectionSchema bits = schema(IdType.INT64, vector(VectorType.BINARY, 11, Metric.HAMMING));
    FixedSizeListVector sent =
        (FixedSizeListVector)
            Sent.fixedListField("v", 11, ArrowType.Bool.INSTANCE).createVector(allocator);
    sent.allocateNew();
    sent.setNotNull(0);
    for (int i = 0; i < 11; i++) {
      ((BitVector) sent.getDataVector()).setSafe(i, i == 0 || i == 9 ? 1 : 0);
    }
    sent.setValueCount(1);
    byte[] stored =
        through(
            bits,
            WriteMode.UPSERT,
            Sent.root(Sent.int64(allocator, "id", 1L), sent),
            rows -> ((FixedSizeBinaryVector) rows.getVector("v")).get(0));
    assertThat(stored).containsExactly(0b1000_0000, 0b0100_0000);
  }

  @Test
  void integerIdsAreNoText() {
    assertRefused(
        l2(2),
        Sent.root(
            Sent.utf8(allocator, "id", "1"),
            Sent.fixedList(allocator, "v", 2, new float[] {1, 2}),
            Sent.utf8(allocator, "tag", "a")),
        "column 'id'",
        "Utf8");
  }

  @Test
  @Tag("B013")
  void integerIdsOutOfRangeAreRefusedNotWrapped() {
    UInt8Vector ids =
        (UInt8Vector) Sent.field("id", new ArrowType.Int(64, false)).createVector(allocator);
    ids.allocateNew(2);
    ids.set(0, Long.MAX_VALUE);
    ids.set(1, Long.MIN_VALUE); // 2^63
    ids.setValueCount(2);
    assertRefused(
        l2(2),
        WriteMode.DELETE,
        Sent.root(ids),
        "row 1, column 'id': 9223372036854775808 is out of range for int64");
  }

  @Test
  @Tag("B013")
  void oneUuidIsOnePointUnderEverySpelling() {
    CollectionSchema uuids = schema(IdType.UUID, vector(VectorType.FLOAT32, 2, Metric.L2));
    String plain = "0f8fad5b-d9cb-469f-a165-70867728950e";
    VectorSchemaRoot batch =
        Sent.root(
            Sent.utf8(
                allocator,
                "id",
                plain,
                plain.toUpperCase(java.util.Locale.ROOT),
                plain.replace("-", ""),
                "{" + plain + "}",
                "urn:uuid:" + plain));
    int kept =
        through(
            uuids,
            WriteMode.DELETE,
            batch,
            r -> LastRows.of(IdKeys.of(IdType.UUID, r.getVector("id")), 5).rows().length);
    assertThat(kept).isEqualTo(1);
  }

  @Test
  @Tag("B013")
  void anIdOfTheWrongTypeIsRefusedNamingBoth() {
    VectorSchemaRoot batch = Sent.root(Sent.utf8(allocator, "id", "B07YSTB5HX"));
    assertRefused(l2(2), WriteMode.DELETE, batch, "column 'id': type Utf8", "expected int64");
  }

  @Test
  @Tag("B014")
  void textIdsKeepTheirBytesAndHaveBoundedLength() {
    CollectionSchema text = schema(IdType.UTF8, vector(VectorType.FLOAT32, 2, Metric.L2));
    String[] odd = {"a\\b\\c", "a'b", "a\"b", "nul\0", "\u00e9", "e\u0301", "x".repeat(512)};
    List<String> back =
        through(
            text,
            WriteMode.DELETE,
            Sent.root(Sent.utf8(allocator, "id", odd)),
            r -> {
              VarCharVector ids = (VarCharVector) r.getVector("id");
              return java.util.stream.IntStream.range(0, odd.length)
                  .mapToObj(i -> new String(ids.get(i), StandardCharsets.UTF_8))
                  .toList();
            });
    assertThat(back).containsExactly(odd);
    for (String bad : new String[] {"", "x".repeat(513), "y".repeat(10_000)}) {
      assertRefused(
          text,
          WriteMode.DELETE,
          Sent.root(Sent.utf8(allocator, "id", "a", bad)),
          "row 1, column 'id': has " + bad.length() + " bytes, expected 1..512");
    }
  }

  @Test
  @Tag("B014")
  void textIdsMustBeValidUtf8() {
    CollectionSchema text = schema(IdType.UTF8, vector(VectorType.FLOAT32, 2, Metric.L2));
    VarCharVector ids = Sent.utf8(allocator, "id", "a", "b");
    ids.setSafe(1, new byte[] {'a', (byte) 0xff});
    ids.setValueCount(2);
    assertRefused(
        text, WriteMode.DELETE, Sent.root(ids), "row 1, column 'id': is not valid UTF-8 at byte 1");
  }

  @Test
  @Tag("B052")
  void listsWhoseOffsetsDoNotBeginAtZeroKeepTheirRows() {
    int rows = 300;
    int skipped = 7;
    ListVector lists = (ListVector) Sent.listField("v", Sent.FLOAT32).createVector(allocator);
    lists.allocateNew();
    Float4Vector items = (Float4Vector) lists.getDataVector();
    for (int i = 0; i < (rows + skipped) * 4; i++) {
      items.setSafe(i, i / 4 - skipped);
    }
    items.setValueCount((rows + skipped) * 4);
    for (int row = 0; row < rows; row++) {
      lists.startNewValue(row);
      lists.endValue(row, 4);
    }
    lists.setValueCount(rows);
    for (int row = 0; row <= rows; row++) {
      lists.getOffsetBuffer().setInt(row * 4L, (row + skipped) * 4);
    }
    assertComponentsAreIds(rows, lists);
  }

  @Test
  @Tag("B052")
  void slicesOfEveryKindOfListKeepTheirRows() {
    int all = 1_000;
    float[][] vectors = new float[all][4];
    for (int i = 0; i < all; i++) {
      java.util.Arrays.fill(vectors[i], i - 100f);
    }
    for (FieldVector whole :
        List.of(
            Sent.fixedList(allocator, "v", 4, vectors),
            Sent.list(allocator, "v", vectors),
            large(vectors))) {
      try (whole) {
        var transfer = whole.getTransferPair(allocator);
        transfer.splitAndTransfer(100, 500);
        assertComponentsAreIds(500, (FieldVector) transfer.getTo());
      }
    }
  }

  private FieldVector large(float[][] vectors) {
    LargeListVector lists =
        (LargeListVector)
            Sent.field("v", ArrowType.LargeList.INSTANCE, Sent.field("item", Sent.FLOAT64))
                .createVector(allocator);
    lists.allocateNew();
    Float8Vector items = (Float8Vector) lists.getDataVector();
    int end = 0;
    for (int row = 0; row < vectors.length; row++) {
      lists.startNewValue(row);
      for (float value : vectors[row]) {
        items.setSafe(end++, value);
      }
      lists.endValue(row, vectors[row].length);
    }
    items.setValueCount(end);
    lists.setValueCount(vectors.length);
    return lists;
  }

  private void assertComponentsAreIds(int rows, FieldVector vectors) {
    Long[] ids = new Long[rows];
    java.util.Arrays.setAll(ids, i -> (long) i);
    VectorSchemaRoot batch = Sent.root(Sent.int64(allocator, "id", ids), vectors);
    through(
        l2(4),
        WriteMode.UPSERT,
        batch,
        r -> {
          Float4Vector items =
              (Float4Vector) ((FixedSizeListVector) r.getVector("v")).getDataVector();
          for (int i = 0; i < rows * 4; i++) {
            assertThat(items.get(i)).isEqualTo((float) Math.floorDiv(i, 4));
          }
          return null;
        });
  }

  @Test
  @Tag("B054")
  void dictionaryColumnsShowTheirValuesAlsoWhenTheDictionaryChanges() {
    DictionaryEncoding encoding = new DictionaryEncoding(5, false, new ArrowType.Int(32, true));
    VarCharVector first = Sent.utf8(allocator, "values");
    VarCharVector second = Sent.utf8(allocator, "values", "x", null, "y");
    DictionaryProvider.MapDictionaryProvider dictionaries =
        new DictionaryProvider.MapDictionaryProvider();
    dictionaries.put(new Dictionary(first, encoding));
    try (VectorSchemaRoot empty = Sent.root(Sent.int64(allocator, "id"), indices(encoding));
        VectorSchemaRoot batch =
            Sent.root(
                Sent.int64(allocator, "id", 1L, 2L, 3L, 4L), indices(encoding, 2, null, 0, 1))) {
      RowNormaliser normaliser =
          RowNormaliser.compile(l2(2), WriteMode.UPDATE, batch.getSchema(), dictionaries);
      try (CanonicalRows rows = normaliser.normalise(empty, allocator)) {
        assertThat(rows.count()).isZero();
      }
      dictionaries.put(new Dictionary(second, encoding));
      try (CanonicalRows rows = normaliser.normalise(batch, allocator)) {
        VarCharVector tags = (VarCharVector) rows.root().getVector(1);
        assertThat(tags.getObject(0)).hasToString("y");
        assertThat(tags.isNull(1)).isTrue();
        assertThat(tags.getObject(2)).hasToString("x");
        assertThat(tags.isNull(3)).isTrue();
      }
    } finally {
      first.close();
      second.close();
    }
  }

  @Test
  @Tag("B054")
  void anIndexOutsideOfItsDictionaryIsRefused() {
    DictionaryEncoding encoding = new DictionaryEncoding(5, false, new ArrowType.Int(32, true));
    try (VarCharVector values = Sent.utf8(allocator, "values", "x", "y");
        VectorSchemaRoot batch =
            Sent.root(Sent.int64(allocator, "id", 1L, 2L), indices(encoding, 1, 2))) {
      DictionaryProvider dictionaries =
          new DictionaryProvider.MapDictionaryProvider(new Dictionary(values, encoding));
      assertThatThrownBy(
              () -> Sent.canonical(l2(2), WriteMode.UPDATE, batch, dictionaries, allocator))
          .hasMessageContaining("row 1, column 'tag': index 2 is outside of its dictionary of 2");
    }
  }

  private FieldVector indices(DictionaryEncoding encoding, Integer... indices) {
    IntVector vector =
        new IntVector("tag", new FieldType(true, new ArrowType.Int(32, true), encoding), allocator);
    vector.allocateNew(Math.max(1, indices.length));
    for (int i = 0; i < indices.length; i++) {
      if (indices[i] != null) {
        vector.set(i, indices[i]);
      }
    }
    vector.setValueCount(indices.length);
    return vector;
  }

  @Test
  void aBatchBeyondTheLimitIsRefusedWithItsSize() {
    VarCharVector tags = Sent.utf8(allocator, "tag", "x".repeat(17 << 20));
    try (VectorSchemaRoot batch = Sent.root(Sent.int64(allocator, "id", 1L), tags)) {
      assertThatThrownBy(() -> Sent.canonical(l2(2), WriteMode.UPDATE, batch, null, allocator))
          .isInstanceOf(SagittaException.class)
          .hasMessageContaining("expected at most 16777216")
          .extracting(e -> ((SagittaException) e).code())
          .isEqualTo(ErrorCode.LIMIT);
    }
  }

  @Test
  void anOffsetBeyondItsDataIsRefusedNotRead() {
    VarCharVector tags = Sent.utf8(allocator, "tag", "abc", "def");
    tags.getOffsetBuffer().setInt(8, 1 << 20);
    VectorSchemaRoot batch = Sent.root(Sent.int64(allocator, "id", 1L, 2L), tags);
    assertRefused(l2(2), WriteMode.UPDATE, batch, "column 'tag': is damaged", "offsets leave");
  }
}
