// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.PayloadType.Kind;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.ops.cli.CannedCluster.Run;
import io.sagitta.ops.cli.Connection.CollectionLine;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is asked, and how answers are printed. */
class AnswerTest {
  private static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.INT64,
          List.of(
              new VectorField(1, "plot", VectorType.FLOAT32, 384, Metric.COSINE, false),
              payload(2, "note", Kind.UTF8),
              payload(3, "big", Kind.UINT64),
              payload(4, "ratio", Kind.FLOAT64),
              payload(5, "raw", Kind.BINARY),
              payload(6, "key", Kind.UUID)));

  private final BufferAllocator allocator = new RootAllocator();
  private final CannedCluster cluster = new CannedCluster();

  @AfterEach
  void everythingIsReleased() {
    allocator.close();
  }

  private static PayloadField payload(int fieldId, String name, Kind kind) {
    return new PayloadField(fieldId, name, PayloadType.of(kind));
  }

  private VectorSchemaRoot rows() {
    VectorSchemaRoot rows =
        VectorSchemaRoot.create(
            ArrowSchemas.batchSchema(SCHEMA, List.of(0, 2, 3, 4, 5, 6)), allocator);
    rows.allocateNew();
    long[] ids = {9_007_199_254_740_993L, Long.MAX_VALUE, -1};
    String[] notes = {"plain", "two\nlines\u001b[2J", "ünï"};
    for (int row = 0; row < 3; row++) {
      ((BigIntVector) rows.getVector("id")).setSafe(row, ids[row]);
      ((VarCharVector) rows.getVector("note"))
          .setSafe(row, notes[row].getBytes(StandardCharsets.UTF_8));
    }
    ((UInt8Vector) rows.getVector("big")).setSafe(0, -1);
    ((Float8Vector) rows.getVector("ratio")).setSafe(0, 0.1);
    ((Float8Vector) rows.getVector("ratio")).setSafe(1, Double.NaN);
    ((VarBinaryVector) rows.getVector("raw")).setSafe(0, new byte[] {0, 1, 2});
    ((FixedSizeBinaryVector) rows.getVector("key")).setSafe(0, new byte[16]);
    rows.setRowCount(3);
    return rows;
  }

  @Test
  @Tag("B013")
  void idsAndNumbersKeepEveryDigit() {
    cluster.answers("describe", "{\"id\": \"int64\"}");
    try (VectorSchemaRoot rows = rows()) {
      Run run =
          cluster
              .rows(rows, null)
              .run("get", "films", "--json", "9007199254740993", "9223372036854775807", "--", "-1");

      assertThat(cluster.lastRequest())
          .isEqualTo(
              "{\"get\":{\"collection\":\"films\",\"ids\":[9007199254740993,9223372036854775807,-1]}}");
      assertThat(run.code()).isZero();
      assertThat(run.out())
          .contains("\"id\":9007199254740993,")
          .contains("\"id\":9223372036854775807,")
          .contains("\"id\":-1,")
          .contains("\"big\":18446744073709551615,")
          .contains("\"ratio\":0.1,")
          .contains("\"ratio\":\"NaN\"")
          .contains("\"raw\":\"AAEC\"")
          .contains("\"key\":\"00000000-0000-0000-0000-000000000000\"");
      assertThat(run.json().path("rows")).hasSize(3);
    }
  }

  @Test
  @Tag("B013")
  void anIdOutOfRangeIsRefusedNeverWrapped() {
    cluster.answers("describe", "{\"id\": \"int64\"}");
    for (String id : List.of("9223372036854775808", "18446744073709551615", "1.0", "1e3", "")) {
      Run run = cluster.run("get", "films", id);
      assertThat(run.code()).as(id).isEqualTo(2);
    }
  }

  @Test
  @Tag("B013")
  void theCollectionDecidesWhatDigitsMean() {
    cluster.answers("describe", "{\"id\": \"utf8\"}").run("get", "films", "007", "B07YSTB5HX");
    assertThat(cluster.lastRequest()).contains("[\"007\",\"B07YSTB5HX\"]");

    cluster.answers("describe", "{\"id\": \"uuid\"}");
    for (String spelling :
        List.of(
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
            "6ba7b8109dad11d180b400c04fd430c8",
            "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}")) {
      cluster.run("get", "films", spelling);
      assertThat(cluster.lastRequest()).contains("[\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"]");
    }
  }

  @Test
  void aTableIsCleanTextOfOneLineARow() {
    cluster.answers("describe", "{\"id\": \"int64\"}");
    try (VectorSchemaRoot rows = rows()) {
      Run run = cluster.rows(rows, null).run("get", "films", "1");

      assertThat(run.err()).isEmpty();
      assertThat(run.out().lines()).hasSize(4);
      assertThat(run.out()).contains("two\\nlines\\u001b[2J").doesNotContain("\u001b");
      List<String> lines = run.out().lines().toList();
      assertThat(lines.get(0)).startsWith("                 id  note");
      assertThat(lines.get(2)).startsWith("9223372036854775807  two");
    }
  }

  @Test
  void aSearchCarriesItsOptionsExactly() {
    cluster.run(
        "search",
        "films",
        "--vector",
        "[0.1, 2e-3]",
        "-k",
        "7",
        "--offset",
        "3",
        "--recall",
        "0.9",
        "--filter",
        "year >= $1 AND tag = $2",
        "--param",
        "9007199254740993",
        "--param",
        "x' OR '1'='1",
        "--fields",
        "note,big",
        "--min-score",
        "0.25",
        "--timeout",
        "2s");

    assertThat(cluster.lastRequest())
        .contains("\"vector\":[0.1,0.002]")
        .contains("\"k\":7")
        .contains("\"offset\":3")
        .contains("\"recall\":0.9")
        .contains("\"params\":[9007199254740993,\"x' OR '1'='1\"]")
        .contains("\"fields\":[\"note\",\"big\"]")
        .contains("\"min_score\":0.25")
        .contains("\"timeout_ms\":2000");
  }

  @Test
  void aSearchShowsItsCertificateBesideTheTable() {
    String certificate = "{\"exact\":true,\"shards\":[]}";
    try (VectorSchemaRoot rows = rows()) {
      cluster.rows(rows, certificate);

      Run table = cluster.run("search", "films", "--vector", "1,2", "--exact");
      assertThat(table.out()).doesNotContain("exact");
      assertThat(table.err()).isEqualToIgnoringNewLines("certificate: " + certificate);

      Run json = cluster.run("search", "films", "--vector", "1,2", "--exact", "--json");
      assertThat(json.json().at("/certificate/exact").asBoolean()).isTrue();
      assertThat(json.err()).isEmpty();
    }
  }

  @Test
  void aFullPageOfAScanNamesItsCursor() {
    try (VectorSchemaRoot rows = rows()) {
      cluster.rows(rows, null).cursor("abc");
      assertThat(cluster.run("scan", "films", "--limit", "3", "--json").json().path("cursor"))
          .isEqualTo(CannedCluster.MAPPER.valueToTree("abc"));
      assertThat(cluster.run("scan", "films", "--limit", "4").err()).isEmpty();
    }
  }

  @Test
  void aCollectionIsCreatedFromWordsOrJson() {
    cluster.run(
        "create",
        "films",
        "--id",
        "utf8",
        "--shards",
        "2",
        "--replicas",
        "3",
        "--field",
        "plot:float32[384]:cosine?@memory",
        "--field",
        "tags:list<utf8>");
    String words = cluster.lastRequest();
    cluster.run(
        "create",
        "films",
        "--body",
        """
        {"id": "utf8", "shards": 2, "replicas": 3, "fields": [
          {"name": "plot", "type": "float32", "dim": 384, "metric": "cosine", "nullable": true,
           "storage": "memory"},
          {"name": "tags", "type": "list<utf8>"}]}
        """);
    assertThat(cluster.lastRequest()).isEqualTo(words).contains("\"dim\":384");
  }

  @Test
  void collectionsAreListedWithTheirFields() {
    cluster.collections(
        List.of(new CollectionLine("films", 117_791, ArrowSchemas.toArrow(SCHEMA))));

    assertThat(cluster.run("collections").out())
        .contains("films       117791  plot:float32[384]:cosine  note:utf8 big:uint64");
    JsonNode json = cluster.run("collections", "--json").json();
    assertThat(json.at("/collections/0/rows").asLong()).isEqualTo(117_791);
  }

  private static final String STATUS =
      """
      {"cluster": "c1", "feature_level": 1, "epoch": 5,
       "metadata": {"leader": "n2", "voters": ["n1", "n2"]},
       "nodes": [
        {"name": "n1", "id": "u1", "host": "127.0.0.1", "ports": {"flight": 8815}, "version": "0.1",
         "starts": 2, "reachable": true, "ready": true, "causes": [], "groups_max": 64, "groups": 3,
         "leads": 1, "memory": {"growing": 1048576, "heap_max": 1073741824},
         "disk": {"total_bytes": 100, "free_bytes": 5368709120}},
        {"name": "n2", "id": "u2", "host": "127.0.0.1", "ports": {"flight": 8825}, "version": "0.1",
         "starts": 1, "reachable": false, "ready": false, "groups_max": 64,
         "causes": ["the node does not answer"]}],
       "collections": [
        {"name": "films", "id": "u3", "ready": true, "replicas_wanted": "auto", "rows": 12,
         "shards": [{"shard": 0, "id": "u4", "slots": [0, 4095], "leader": "n1", "replicas": [
          {"node": "n1", "state": "leader", "index": 120, "rows": 12, "growing_bytes": 0,
           "segments": 2, "checkpoint_index": 100, "log_bytes": 2048},
          {"node": "n2", "state": "joining", "index": 100, "rows": 9, "segments": 1,
           "log_bytes": 0, "failure": "disk gone"},
          {"node": "n3", "state": "unreachable"}]}]},
        {"name": "books", "id": "u5", "ready": false, "replicas_wanted": 1, "rows": 0,
         "shards": [{"shard": 0, "id": "u6", "slots": [0, 4095], "leader": null,
          "replicas": [{"node": "n2", "state": "planned"}]}]}]}
      """;

  @Test
  void statusReadsAsTablesOfNodesShardsAndMemoryAndSaysWhatIsWrong() {
    cluster.answers("status", STATUS);

    assertThat(cluster.run("status").out())
        .isEqualToNormalizingNewlines(
            """
            cluster   c1
            metadata  leader n2, voters n1 n2, epoch 5

            node  flight          ready        leads  groups  disk free  starts  version
            n1    127.0.0.1:8815  yes              1    3/64    5.0 GiB       2  0.1
            n2    127.0.0.1:8825  unreachable      -    -/64          -       1  0.1

            collection  shard  leader  replicas                        index  behind  rows  segments      log
            films           0  n1      n1 n2(joining) n3(unreachable)    120      20    12         2  2.0 KiB
            books           0  -       n2(planned)                         -       -     -         -        -

            memory         n1
            growing   1.0 MiB
            heap max  1.0 GiB

            node n2: the node does not answer
            collection films, shard 0 on n2: disk gone
            collection books is not ready yet
            """);
  }

  @Test
  void statusAsJsonIsTheAnswerAsItCame() throws Exception {
    cluster.answers("status", STATUS);

    assertThat(cluster.run("status", "--json").json())
        .isEqualTo(new ObjectMapper().readTree(STATUS));
  }

  @Test
  void aDescriptionReadsAsSectionsOfLinesAndTables() {
    cluster.answers(
        "describe",
        """
        {"collection": "films", "rows": 12, "fields": [
          {"name": "plot", "type": "float32", "dim": 384},
          {"name": "year", "type": "int32"}]}
        """);

    assertThat(cluster.run("describe", "films").out())
        .isEqualToNormalizingNewlines(
            """
            collection  films
            rows        12

            fields:
            name  type     dim
            plot  float32  384
            year  int32
            """);
  }

  @Test
  void longRowsAreCutToATerminalOnly() {
    Table table = Table.of("id", "gloss").numeric(0).row("1", "x".repeat(300));
    java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
    java.io.PrintStream out = new java.io.PrintStream(bytes, true, StandardCharsets.UTF_8);
    table.print(out, 40);
    assertThat(bytes.toString(StandardCharsets.UTF_8).lines().map(String::length))
        .allMatch(length -> length <= 40);
    bytes.reset();
    table.print(out, 0);
    assertThat(bytes.toString(StandardCharsets.UTF_8)).contains("x".repeat(300));
  }
}
