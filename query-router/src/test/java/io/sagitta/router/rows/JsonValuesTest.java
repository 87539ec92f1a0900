// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class JsonValuesTest {
  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void nothingLeaks() {
    allocator.close();
  }

  private String write(String type, Object value) {
    PayloadField field = new PayloadField(1, "f", PayloadType.parse(type));
    try (FieldVector column = JsonValues.column(field, value, 2, allocator)) {
      assertThat(column.getValueCount()).isEqualTo(2);
      assertThat(String.valueOf(column.getObject(0)))
          .isEqualTo(String.valueOf(column.getObject(1)));
      return String.valueOf(column.getObject(1));
    }
  }

  private void assertRefused(String type, Object value, String words) {
    assertThatThrownBy(() -> write(type, value))
        .isInstanceOf(SagittaException.class)
        .hasMessageContaining("field 'f'")
        .hasMessageContaining(words);
  }

  @Test
  @Tag("B017")
  void integersAreExactOrRefused() {
    assertThat(write("int64", 9007199254740993L)).isEqualTo("9007199254740993");
    assertThat(write("int64", new BigDecimal("42.000"))).isEqualTo("42");
    assertThat(write("int64", 42.0)).isEqualTo("42");
    assertThat(write("uint64", new BigInteger("18446744073709551615"))).isEqualTo("-1");
    assertThat(write("int8", -128L)).isEqualTo("-128");
    assertRefused("int8", 128L, "out of range for int8");
    assertRefused("uint64", -1L, "out of range for uint64");
    assertRefused("uint64", new BigInteger("18446744073709551616"), "out of range");
    assertRefused("int32", 1.5, "not a whole number");
    assertRefused("int64", new BigDecimal("1e999999999"), "out of range");
    assertRefused("int64", new BigDecimal("1e-999999999"), "not a whole number");
    assertRefused("int64", "42", "is not int64");
  }

  @Test
  void floatsAreRoundedOnceAndNeverInfinite() {
    assertThat(write("float64", new BigDecimal("0.1"))).isEqualTo("0.1");
    assertThat(write("float32", new BigDecimal("0.1"))).isEqualTo("0.1");
    assertRefused("float32", 1e39, "out of range for float32");
    assertRefused("float64", new BigDecimal("1e400"), "out of range for float64");
  }

  @Test
  @Tag("B023")
  void timestampsAreUtcUnlessTheySayOtherwise() {
    String micros =
        Long.toString(Instant.parse("2024-03-09T23:30:00Z").getEpochSecond() * 1_000_000);
    assertThat(write("timestamp", "2024-03-10T00:30:00+01:00")).isEqualTo(micros);
    assertThat(write("timestamp", "2024-03-09T23:30:00Z")).isEqualTo(micros);
    assertThat(write("timestamp", "2024-03-09T23:30:00")).isEqualTo(micros);
    assertThat(write("timestamp", "2024-03-09 23:30:00")).isEqualTo(micros);
    assertThat(write("timestamp", "1969-07-21T20:17:40.000001Z")).startsWith("-");
    assertRefused("timestamp", "2024-02-30T00:00:00Z", "not a timestamp");
    assertRefused("timestamp", "2024-03-09T23:30:00.0000001Z", "more than microseconds");
    assertRefused("timestamp", "2024-03-0923:30:00", "not a timestamp");
    assertThat(write("date", "2024-02-29")).isEqualTo("19782");
    assertRefused("date", "2024-02-30", "not a date");
  }

  @Test
  void otherKindsAreWrittenAsTheyStand() {
    assertThat(write("bool", true)).isEqualTo("true");
    assertThat(write("utf8", "it's \"50%\"")).isEqualTo("it's \"50%\"");
    assertRefused("utf8", "\ud800", "unpaired surrogate");
    assertThat(write("json", Map.of("a", List.of(1L, new BigDecimal("2.50")))))
        .isEqualTo("{\"a\":[1,2.50]}");
    assertRefused("binary", "%%", "not base64");
    assertRefused("uuid", "B07YSTB5HX", "not a UUID");
    assertThat(write("geo", Map.of("lat", 90L, "lon", -180L)))
        .isEqualTo("{\"lat\":90.0,\"lon\":-180.0}");
    assertRefused("geo", Map.of("lat", 91L, "lon", 0L), "lat is 91.0");
    assertRefused("geo", Map.of("lat", 1L), "is not");
    assertThat(write("list<int16>", Arrays.asList(1L, null, 3L))).isEqualTo("[1,null,3]");
    assertThat(write("list<utf8>", List.of())).isEqualTo("[]");
    assertThat(write("utf8", null)).isEqualTo("null");
  }
}
