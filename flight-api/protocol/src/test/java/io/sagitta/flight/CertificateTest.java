// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.flight.Certificate.ShardPart;
import io.sagitta.flight.Certificate.Strategy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CertificateTest {
  @Test
  void theJsonIsTheProtocolsAndComesBack() {
    Certificate certificate =
        new Certificate(
            List.of(new ShardPart(0, 17, "n1"), new ShardPart(2, 19, "n3")),
            List.of(1),
            "strong",
            true,
            new Strategy(1, 2, 3, 4),
            1_000,
            1.0,
            250);
    assertThat(certificate.toJson())
        .isEqualTo(
            "{\"shards\":[{\"shard\":0,\"index\":17,\"replica\":\"n1\"},"
                + "{\"shard\":2,\"index\":19,\"replica\":\"n3\"}],\"missing\":[1],"
                + "\"consistency\":\"strong\",\"exact\":true,"
                + "\"strategy\":{\"graph\":1,\"masked\":2,\"two_hop\":3,\"scan\":4},"
                + "\"visited\":1000,\"recall_planned\":1.0,\"took_us\":250}");
    assertThat(Certificate.parse(certificate.toJson())).isEqualTo(certificate);
  }

  @Test
  void aCertificateOfManyShardsStaysInItsBoundAndCountsWhatItLeavesOut() {
    List<ShardPart> shards =
        IntStream.range(0, 1_000)
            .mapToObj(i -> new ShardPart(i, Long.MAX_VALUE, "n" + Integer.MAX_VALUE))
            .toList();
    List<Integer> missing = IntStream.range(1_000, 1_024).boxed().toList();
    String json =
        new Certificate(
                shards,
                missing,
                "session",
                false,
                new Strategy(9, 9, 9, 9),
                Long.MAX_VALUE,
                0.95,
                Long.MAX_VALUE)
            .toJson();
    assertThat(json.getBytes(StandardCharsets.UTF_8).length).isBetween(900, 1_024);
    Certificate cut = Certificate.parse(json);
    assertThat(cut.missing()).isEqualTo(missing);
    assertThat(json).contains("\"shards_left_out\":" + (1_000 - cut.shards().size()));
    assertThat(shards).startsWith(cut.shards().toArray(ShardPart[]::new));
  }

  @Test
  void evenMissingShardsAloneMayNotFit() {
    List<Integer> missing = IntStream.range(0, 1_024).boxed().toList();
    String json =
        new Certificate(List.of(), missing, "any", false, new Strategy(0, 0, 0, 0), 0, 0.95, 0)
            .toJson();
    assertThat(json.length()).isLessThanOrEqualTo(Certificate.BYTES_MAX);
    assertThat(json)
        .contains("\"missing_left_out\":" + (1_024 - Certificate.parse(json).missing().size()));
  }
}
