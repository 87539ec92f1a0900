// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpsHttpTest {
  private final MetricRegistry registry = new MetricRegistry();
  private volatile Health health = new Health(List.of(), List.of());
  private OpsHttp server;
  private HttpClient client;

  @BeforeEach
  void start() throws IOException {
    server = OpsHttp.start("127.0.0.1", 0, () -> health, () -> PrometheusText.of(registry));
    client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private HttpResponse<String> send(String method, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  @Test
  void aLiveNodeSaysSo() throws Exception {
    assertThat(send("GET", "/livez").statusCode()).isEqualTo(200);
    HttpResponse<String> head = send("HEAD", "/livez");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
  }

  @Test
  void readinessNamesItsCauses() throws Exception {
    assertThat(send("GET", "/readyz").body())
        .isEqualTo("{\"ready\":true,\"causes\":[],\"warnings\":[]}\n");
    health = new Health(List.of("2 shards have no leader"), List.of("the disk is 86 % full"));
    HttpResponse<String> answer = send("GET", "/readyz");
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body())
        .isEqualTo(
            "{\"ready\":false,\"causes\":[\"2 shards have no leader\"],"
                + "\"warnings\":[\"the disk is 86 % full\"]}\n");
  }

  @Test
  void metricsAreInThePrometheusFormat() throws Exception {
    registry.counter("sagitta_requests_total{verb=\"search\"}").inc(3);
    registry.counter("sagitta_requests_total{verb=\"get\"}").inc();
    registry.register("sagitta_heap_bytes", (Gauge<Long>) () -> 5L);
    registry.register("sagitta_ratio", (Gauge<Double>) () -> 0.25);
    registry.timer("sagitta_search_seconds").update(2, TimeUnit.MILLISECONDS);
    HttpResponse<String> answer = send("GET", "/metrics");
    assertThat(answer.headers().firstValue("content-type"))
        .contains("text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body())
        .isEqualTo(
            """
            # TYPE sagitta_heap_bytes gauge
            sagitta_heap_bytes 5
            # TYPE sagitta_ratio gauge
            sagitta_ratio 0.250000
            # TYPE sagitta_requests_total counter
            sagitta_requests_total{verb="get"} 1
            sagitta_requests_total{verb="search"} 3
            # TYPE sagitta_search_seconds summary
            sagitta_search_seconds{quantile="0.5"} 0.00200000
            sagitta_search_seconds{quantile="0.95"} 0.00200000
            sagitta_search_seconds{quantile="0.99"} 0.00200000
            sagitta_search_seconds{quantile="0.999"} 0.00200000
            sagitta_search_seconds_count 1
            """);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/v1/search", "/metricsx", "/livez/../metrics", "//metrics"})
  void nothingElseIsThere(String path) throws Exception {
    assertThat(send("GET", path).statusCode()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS"})
  void nothingCanBeChanged(String method) throws Exception {
    assertThat(send(method, "/metrics").statusCode()).isEqualTo(405);
  }

  @Test
  void aHeadThatIsTooLongIsRefused() throws Exception {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      OutputStream out = socket.getOutputStream();
      out.write(
          ("GET /livez HTTP/1.1\r\nX: " + "x".repeat(20_000) + "\r\n\r\n")
              .getBytes(StandardCharsets.US_ASCII));
      out.flush();
      byte[] start = socket.getInputStream().readNBytes(12);
      assertThat(new String(start, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 400");
    }
    assertThat(send("GET", "/livez").statusCode()).isEqualTo(200);
  }
}
