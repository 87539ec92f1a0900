// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.client.Answer;
import io.sagitta.flight.client.Row;
import io.sagitta.flight.client.SagittaClient;
import io.sagitta.flight.client.ScanReader;
import io.sagitta.flight.client.Writer;
import io.sagitta.flight.client.WriterOptions;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.util.Text;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole nodes behind their ports, as clients and probes see them. */
class NodeTest {
  @TempDir Path root;

  private Node start(int i, NodeConfig.Ports ports, Membership membership) throws IOException {
    return start(i, ports, membership, "");
  }

  private Node start(int i, NodeConfig.Ports ports, Membership membership, String more)
      throws IOException {
    String yaml =
        ConfigFile.localYaml(root.resolve("n" + i), ports, membership)
            + """
            timeouts: {meta_election_ms: 300, shard_election_ms: 300, reconcile_ms: 100, drain_ms: 2000}
            limits: {groups: 8}
            """
            + more;
    return Node.start(ConfigFile.parse("test", yaml, root), "test");
  }

  private static void stop(Node node) {
    node.close();
    assertThat(node.closeFailure()).as("what leaked or failed at close").isEmpty();
  }

  private static SagittaClient client(NodeConfig.Ports ports) {
    return SagittaClient.builder()
        .endpoints("127.0.0.1:" + ports.flight())
        .timeout(Duration.ofSeconds(30))
        .build();
  }

  @Test
  void oneNodeServesWhatWasPutThroughARestart() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    Node node = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("ready", () -> node.health().ready());
    try (SagittaClient client = client(ports)) {
      client.create("words", Points.SCHEMA);
      put(client, "words", 0, 500);
      assertThat(search(client, "words", 7.2f)).containsExactly(7L, 8L, 6L);
      assertThat(client.count("words", "tag = $1", "t9")).isEqualTo(1);
      JsonNode status = client.status();
      assertThat(status.at("/nodes/0/name").asText()).isEqualTo("n1");
      assertThat(status.at("/nodes/0/reachable").asBoolean()).isTrue();
      assertThat(status.at("/metadata/leader").asText()).isEqualTo("n1");
      assertThat(status.at("/collections/0/shards/0/leader").asText()).isEqualTo("n1");
      JsonNode verified = client.verify("words").at("/shards/0");
      assertThat(verified.path("equal").isNull()).isTrue();
      assertThat(verified.at("/replicas/0/verdict").asText()).isEqualTo("only_replica");
    }
    assertThat(get(ports, "/readyz").body()).startsWith("{\"ready\":true");
    stop(node);

    Node again = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("ready again", () -> again.health().ready());
    try (SagittaClient client = client(ports)) {
      assertThat(client.count("words")).isEqualTo(500);
      assertThat(search(client, "words", 7.2f)).containsExactly(7L, 8L, 6L);
      // Rows so large that a page of a scan is cut by its bytes.
      put(client, "words", 500, 200, "x".repeat(40_000));
      assertThat(scan(client, "words")).isEqualTo(LongStream.range(0, 700).boxed().toList());
      client.drop("words");
      assertThatThrownBy(() -> client.count("words"))
          .isInstanceOfSatisfying(
              SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
    }
    stop(again);
  }

  @Test
  void aFieldKeptInMemorySaysSoAndWritesThatFindNoRoomThereAreRefused() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    Node node = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("ready", () -> node.health().ready());
    CollectionSchema schema =
        new CollectionSchema(
            1,
            IdType.INT64,
            List.of(
                new VectorField(
                    1, "v", VectorType.FLOAT32, 2, Metric.L2, false, VectorStorage.MEMORY),
                Points.SCHEMA.fields().get(1)));
    try (SagittaClient client = client(ports)) {
      client.create("held", schema);
      client.create("words", Points.SCHEMA);
      put(client, "held", 0, 100);
      assertStorage(client, "held", "memory");
      assertStorage(client, "words", "mapped");
      assertThat(client.schema("held").findField("v").getMetadata())
          .containsEntry("sagitta.storage", "memory");
      // Rows of two floats: a power of two. A report is as old as the leader's last look.
      TestMembers.await(
          "what is owed",
          () -> client.status().at("/nodes/0/memory/resident_owed").asLong() == 100 * 8);
    }
    stop(node);

    Node again = start(1, ports, new Membership.Bootstrap(), "memory: {resident_bytes: 1000}\n");
    TestMembers.await("ready again", () -> again.health().ready());
    try (SagittaClient client = client(ports)) {
      assertStorage(client, "held", "memory");
      // Within the pause that the refusal asks for: the writer need not wait for that to end.
      WriterOptions once = WriterOptions.of("held").withBatchTimeout(Duration.ofSeconds(4));
      assertThatThrownBy(() -> put(client, once, 100, 100, "t"))
          .isInstanceOfSatisfying(
              SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
          .hasMessageContaining("memory.resident_bytes");
      assertThat(client.count("held")).isEqualTo(100);
      assertThat(search(client, "held", 7.2f)).containsExactly(7L, 8L, 6L);
      client.delete("held", "id = 7");
      assertThat(client.count("held")).isEqualTo(99);
    }
    assertThat(get(ports, "/metrics").body())
        .contains("sagitta_memory_bytes{part=\"resident_max\"} 1000");
    stop(again);
  }

  @Test
  void writesGoOnWhereSegmentsAreLargerThanTheMemoryForThem() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    // Segments freeze at 64 MiB unless there is no room for that much.
    Node node = start(1, ports, new Membership.Bootstrap(), "memory: {growing_bytes: 16MiB}\n");
    TestMembers.await("ready", () -> node.health().ready());
    String tag = "x".repeat(40_000);
    try (SagittaClient client = client(ports)) {
      client.create("one", Points.SCHEMA);
      client.create("two", Points.SCHEMA);
      for (int from = 0; from < 1_000; from += 100) {
        put(client, "one", from, 100, tag);
        put(client, "two", from, 100, tag);
      }
      assertThat(client.count("one")).isEqualTo(1_000);
      assertThat(client.count("two")).isEqualTo(1_000);
    }
    stop(node);
  }

  private static void assertStorage(SagittaClient client, String name, String storage) {
    assertThat(client.describe(name).at("/fields/0/storage").asText()).isEqualTo(storage);
  }

  @Test
  void anyOfThreeNodesTakesAnyRequest() throws Exception {
    List<NodeConfig.Ports> ports = List.of(Ports.six(), Ports.six(), Ports.six());
    Membership join =
        new Membership.Join(List.of(new HostPort("127.0.0.1", ports.getFirst().internal())));
    Node first = start(1, ports.get(0), new Membership.Bootstrap());
    Node second = start(2, ports.get(1), join);
    Node third = start(3, ports.get(2), join);
    TestMembers.await("ready", () -> third.health().ready());
    try (SagittaClient one = client(ports.get(0));
        SagittaClient two = client(ports.get(1));
        SagittaClient three = client(ports.get(2))) {
      two.create("words", Points.SCHEMA);
      put(three, "words", 0, 300);
      for (SagittaClient any : List.of(one, two, three)) {
        assertThat(any.count("words")).isEqualTo(300);
        assertThat(search(any, "words", 7.2f)).containsExactly(7L, 8L, 6L);
      }
      JsonNode description = one.describe("words");
      assertThat(description.get("shards")).hasSize(3);
      for (JsonNode shard : one.verify("words").get("shards")) {
        assertThat(shard.get("equal").asBoolean()).as(shard.toString()).isTrue();
        assertThat(shard.get("replicas")).hasSize(3);
      }
      stop(first);
      assertThat(two.count("words")).isEqualTo(300);
      put(two, "words", 300, 100);
      assertThat(three.count("words")).isEqualTo(400);
    } finally {
      second.close();
      third.close();
    }
  }

  /** Case B048: the page of metrics does not grow with what users do. */
  @Test
  void metricsAreAsManyWhateverUsersDo() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    Node node = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("ready", () -> node.health().ready());
    Set<String> before = series(ports);
    try (SagittaClient client = client(ports)) {
      for (int i = 0; i < 10; i++) {
        client.create("c" + i, Points.SCHEMA);
        put(client, "c" + i, 0, 1);
        search(client, "c" + i, i);
        if (i % 2 == 0) {
          client.drop("c" + i);
        }
      }
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 8; i++) {
                  client.create("more" + i, Points.SCHEMA);
                }
              })
          .isInstanceOfSatisfying(
              SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT));
    }
    assertThat(series(ports)).isEqualTo(before);
    stop(node);
  }

  @Test
  void aShardWhoseOnlyReplicaIsDamagedAnswersCorruptAndNamesTheFile() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    Node node = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("ready", () -> node.health().ready());
    try (SagittaClient client = client(ports)) {
      client.create("words", Points.SCHEMA);
      put(client, "words", 0, 10);
    }
    stop(node);
    damage("shards/raft", "log_");

    Node again = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("the cause", () -> again.health().causes().toString().contains("log_"));
    assertThat(get(ports, "/readyz").body()).contains("log_").contains("\"ready\":false");
    try (SagittaClient client = client(ports)) {
      corrupt(() -> client.count("words")).hasMessageContaining("log_");
      corrupt(() -> search(client, "words", 7.2f)).hasMessageContaining("log_");
      corrupt(() -> client.delete("words", "id = 1")).hasMessageContaining("log_");
      // The answer to a put carries a shard's code and no more.
      corrupt(() -> put(client, "words", 20, 1));
    }
    stop(again);
  }

  private static AbstractThrowableAssert<?, ?> corrupt(ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT));
  }

  @Test
  void damagedMetadataEndsTheStartOfTheOnlyNode() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    Node node = start(1, ports, new Membership.Bootstrap());
    TestMembers.await("ready", () -> node.health().ready());
    stop(node);
    damage("meta/raft", "raft-meta");
    assertThatThrownBy(() -> start(1, ports, new Membership.Bootstrap()))
        .isInstanceOf(DamageException.class)
        .hasMessageContaining("raft-meta is damaged");
  }

  @Test
  void anInterruptEndsAStartThatWaitsForOthersWhichSaysWhatItWaitsFor() throws Exception {
    List<NodeConfig.Ports> ports = List.of(Ports.six(), Ports.six());
    Membership join =
        new Membership.Join(List.of(new HostPort("127.0.0.1", ports.getFirst().internal())));
    Node first = start(1, ports.get(0), new Membership.Bootstrap());
    Node second = start(2, ports.get(1), join);
    TestMembers.await("ready", () -> second.health().ready());
    stop(second);
    stop(first);
    AtomicReference<Exception> ended = new AtomicReference<>();
    Thread starter =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    start(2, ports.get(1), join).close();
                  } catch (IOException | RuntimeException e) {
                    ended.set(e);
                  }
                });
    TestMembers.await(
        "why it does not start",
        () -> {
          try {
            return get(ports.get(1), "/readyz").body().contains("it waits for the cluster");
          } catch (IOException | InterruptedException notYet) {
            return false;
          }
        });
    starter.interrupt();
    starter.join();
    assertThat(ended.get()).isNotNull();
  }

  /** Zeroes the middle of the files of that name in node 1's folder. */
  private void damage(String under, String name) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(root.resolve("n1").resolve(under).resolve("groups"))) {
      files = all.filter(f -> f.getFileName().toString().startsWith(name)).toList();
    }
    assertThat(files).isNotEmpty();
    for (Path file : files) {
      byte[] bytes = Files.readAllBytes(file);
      int written = bytes.length;
      while (written > 0 && bytes[written - 1] == 0) {
        written--;
      }
      Arrays.fill(bytes, written / 4, written / 2, (byte) 0);
      Files.write(file, bytes);
    }
  }

  @Test
  void aPortThatIsTakenIsNamed() throws Exception {
    NodeConfig.Ports ports = Ports.six();
    try (ServerSocket taken = new ServerSocket(ports.internal())) {
      assertThatThrownBy(() -> start(1, ports, new Membership.Bootstrap()))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("port " + taken.getLocalPort() + " (ports.internal)");
    }
  }

  // ---- helpers -------------------------------------------------------------------------------

  private static void put(SagittaClient client, String name, int from, int count)
      throws InterruptedException {
    put(client, name, from, count, "t");
  }

  /** Points whose tags are {@code tag} and their id. */
  private static void put(SagittaClient client, String name, int from, int count, String tag)
      throws InterruptedException {
    put(client, WriterOptions.of(name), from, count, tag);
  }

  private static void put(
      SagittaClient client, WriterOptions options, int from, int count, String tag)
      throws InterruptedException {
    try (BufferAllocator allocator = new RootAllocator();
        VectorSchemaRoot root =
            VectorSchemaRoot.create(ArrowSchemas.toArrow(Points.SCHEMA), allocator);
        Writer writer = client.writer(options)) {
      BigIntVector ids = (BigIntVector) root.getVector(0);
      FixedSizeListVector vectors = (FixedSizeListVector) root.getVector(1);
      Float4Vector components = (Float4Vector) vectors.getDataVector();
      VarCharVector tags = (VarCharVector) root.getVector(2);
      for (int i = 0; i < count; i++) {
        ids.setSafe(i, from + i);
        vectors.setNotNull(i);
        components.setSafe(2 * i, from + i);
        components.setSafe(2 * i + 1, 1);
        tags.setSafe(i, new Text(tag + (from + i)));
      }
      vectors.setValueCount(count);
      root.setRowCount(count);
      writer.putAndWait(root);
    }
  }

  private static List<Long> scan(SagittaClient client, String name) {
    List<Long> ids = new ArrayList<>();
    try (ScanReader rows = client.scan(name)) {
      while (rows.next()) {
        BigIntVector column = (BigIntVector) rows.batch().getVector("id");
        for (int i = 0; i < column.getValueCount(); i++) {
          ids.add(column.get(i));
        }
      }
    }
    return ids;
  }

  private static List<Long> search(SagittaClient client, String name, float x) {
    try (Answer answer = client.search(name).vectors(new float[] {x, 1}).k(3).run()) {
      return answer.rows().stream().map(Row::id).map(id -> ((PointId.Int64) id).value()).toList();
    }
  }

  private static HttpResponse<String> get(NodeConfig.Ports ports, String path)
      throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + ports.ops() + path)).build(),
          BodyHandlers.ofString());
    }
  }

  private static Set<String> series(NodeConfig.Ports ports) throws Exception {
    return get(ports, "/metrics")
        .body()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.substring(0, line.lastIndexOf(' ')))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
