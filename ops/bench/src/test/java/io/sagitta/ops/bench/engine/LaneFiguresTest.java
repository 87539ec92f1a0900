// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.ops.bench.engine.RecallCurve.Point;
import io.sagitta.ops.bench.report.Report;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaneFiguresTest {
  private static Sweep.Launch launch(double qps, double visited) {
    return new Sweep.Launch(
        new RecallCurve(
            List.of(
                new Point(10, 0.85, 2 * qps, visited / 2, 64 * visited, 0),
                new Point(20, 0.90, qps, visited, 64 * visited, 0),
                new Point(40, 0.96, qps / 2, 2 * visited, 64 * visited, 0))),
        0.96);
  }

  private static Report report() {
    LaneFigures figures = new LaneFigures(Lane.GLOVE_100, List.of(0.90, 0.99));
    figures.add(
        Peer.LUCENE,
        "lucene 1",
        List.of(launch(4_000, 1_000), launch(6_000, 1_000), launch(5_000, 1_000)),
        List.of(30.0, 10.0, 20.0),
        1);
    figures.add(
        Peer.HNSWLIB, "hnswlib 2", List.of(launch(2_500, Double.NaN)), List.of(Double.NaN), 0);
    figures.failed(Peer.JVECTOR, "jvector 3", "no room");
    Report report = Report.of(1);
    figures.enter(report);
    return report;
  }

  private static JsonNode line(int index) {
    return report().figures().path("lanes").path(index);
  }

  @Test
  void aLineHasMediansOverLaunchesAndTheRatioToHnswlib() {
    JsonNode line = line(0);
    assertThat(line.path("lane").asText()).isEqualTo("glove-100");
    assertThat(line.path("peer").asText()).isEqualTo("lucene");
    assertThat(line.path("recall").asDouble()).isEqualTo(0.9);
    assertThat(line.path("qps").asDouble()).isEqualTo(5_000);
    assertThat(line.path("qps_min").asDouble()).isEqualTo(4_000);
    assertThat(line.path("qps_max").asDouble()).isEqualTo(6_000);
    assertThat(line.path("ratio_hnswlib").asDouble()).isEqualTo(2);
    assertThat(line.path("ef").asInt()).isEqualTo(20);
    assertThat(line.path("visited").asInt()).isEqualTo(1_000);
    assertThat(line.path("ns_per_visited").asDouble()).isEqualTo(200);
    assertThat(line.path("bytes_per_query").asInt()).isEqualTo(64_000);
    assertThat(line.path("allocated_per_query").asInt(-1)).isZero();
    assertThat(line.path("build_seconds").asDouble()).isEqualTo(20);
    assertThat(line.path("version").asText()).isEqualTo("lucene 1");
  }

  @Test
  void aRecallOutOfReachHasNoQueriesPerSecondButTheBestRecall() {
    JsonNode line = line(1);
    assertThat(line.path("recall").asDouble()).isEqualTo(0.99);
    assertThat(line.has("qps")).isFalse();
    assertThat(line.has("ratio_hnswlib")).isFalse();
    assertThat(line.path("recall_best").asDouble()).isEqualTo(0.96);
  }

  @Test
  void whatAContenderDoesNotSayIsLeftOut() {
    JsonNode line = line(2);
    assertThat(line.path("peer").asText()).isEqualTo("hnswlib");
    assertThat(line.path("ratio_hnswlib").asDouble()).isEqualTo(1);
    assertThat(line.has("visited")).isFalse();
    assertThat(line.has("ns_per_visited")).isFalse();
    assertThat(line.has("build_seconds")).isFalse();
  }

  @Test
  void aContenderThatFailedHasOneLineWithTheReason() {
    JsonNode lanes = report().figures().path("lanes");
    assertThat(lanes).hasSize(5);
    assertThat(lanes.path(4).path("peer").asText()).isEqualTo("jvector");
    assertThat(lanes.path(4).path("error").asText()).isEqualTo("no room");
  }
}
