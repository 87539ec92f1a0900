// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.it.cluster.Launcher.Run;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The first thing that a person runs: real data on three nodes, asked in words. */
@Timeout(value = 14, unit = TimeUnit.MINUTES)
class DemoIT {
  private static final Duration LONGEST = Duration.ofMinutes(12);

  @Test
  void theDemoLoadsRealDataAndFindsWhatIsAskedFor() throws Exception {
    Run run = Launcher.run(LONGEST, "demo", "--json");
    String all = run.err() + run.out();
    assertThat(run.code()).as(all).isZero();
    JsonNode demo = run.json();
    assertThat(demo.path("ok").asBoolean()).as(all).isTrue();
    assertThat(demo.path("nodes").asInt()).isEqualTo(3);
    assertThat(demo.path("rows").asInt()).isGreaterThan(5_000);
    assertThat(demo.path("recall_at_10").asDouble()).isEqualTo(1);
    assertThat(demo.path("search_p50_ms").asDouble()).isPositive();
    assertThat(demo.path("load_rows_per_second").asDouble()).isPositive();
    assertThat(demo.path("questions").size()).isGreaterThanOrEqualTo(3);
    boolean filtered = false;
    for (JsonNode question : demo.path("questions")) {
      assertThat(question.path("text").asText()).isNotBlank();
      assertThat(question.path("hits")).as(question.toString()).isNotEmpty();
      double before = 1;
      for (JsonNode hit : question.path("hits")) {
        assertThat(hit.path("id").asText()).isNotBlank();
        assertThat(hit.path("lemmas").asText()).isNotBlank();
        assertThat(hit.path("gloss").asText()).isNotBlank();
        assertThat(hit.path("score").asDouble()).isLessThanOrEqualTo(before);
        before = hit.path("score").asDouble();
      }
      assertThat(question.at("/certificate/missing")).isEmpty();
      assertThat(question.at("/certificate/consistency").asText()).isEqualTo("strong");
      filtered |= question.path("filter").isTextual();
    }
    assertThat(filtered).as("some question has a filter").isTrue();
    JsonNode flightless = demo.at("/questions/0");
    assertThat(flightless.path("text").asText()).contains("bird that cannot fly");
    assertThat(flightless.path("hits").toString()).containsAnyOf("ratite", "flightless", "penguin");
  }
}
