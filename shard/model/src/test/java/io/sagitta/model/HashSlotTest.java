// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.dynatrace.hash4j.hashing.Hashing;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HashSlotTest {

  static List<String> goldens() throws IOException {
    try (InputStream in = HashSlotTest.class.getResourceAsStream("hash-slots.tsv")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void slotsAreThoseWrittenDown(String line) {
    String[] columns = line.split("\t");
    PointId id = PointId.parse(IdType.valueOf(columns[0].toUpperCase(Locale.ROOT)), columns[1]);
    assertThat(Hashing.xxh3_64().hashBytesToLong(id.canonicalBytes()))
        .isEqualTo(Long.parseUnsignedLong(columns[2], 16));
    assertThat(HashSlot.of(id)).isEqualTo(new HashSlot(Integer.parseInt(columns[3])));
    assertThat(HashSlot.of(id.canonicalBytes())).isEqualTo(Integer.parseInt(columns[3]));
  }

  @Test
  void consecutiveIdsSpreadEvenly() {
    int ids = 40 * HashSlot.COUNT;
    int[] counts = new int[HashSlot.COUNT];
    for (int id = 0; id < ids; id++) {
      counts[HashSlot.of(new PointId.Int64(id)).value()]++;
    }
    assertThat(Arrays.stream(counts)).allMatch(count -> count > 10 && count < 80);
  }
}
