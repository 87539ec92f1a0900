// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.Command;
import io.sagitta.flight.Commands;
import io.sagitta.model.ShardRead;
import io.sagitta.ops.cli.CannedCluster.Run;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code ctl recall} over a cluster whose searches are wrong in a way that is known. */
class RecallCommandTest {
  private static final int POINTS = 300;

  private final BufferAllocator allocator = new RootAllocator();
  private final List<VectorSchemaRoot> sent = new ArrayList<>();
  private final CannedCluster cluster =
      new CannedCluster()
          .answers(
              "describe",
              "{\"id\": \"int64\", \"fields\": [{\"name\": \"at\", \"type\": \"float32\","
                  + " \"dim\": 2, \"metric\": \"l2\"}, {\"name\": \"note\", \"type\": \"utf8\"}]}")
          .rows(this::answer, "{\"took_us\": 1000}");

  /** Places, from the nearest hit on, that a search leaves out unless it is exact. */
  private Set<Integer> hidden = Set.of();

  private int stored = POINTS;

  @AfterEach
  void everythingIsReleased() {
    sent.forEach(VectorSchemaRoot::close);
    allocator.close();
  }

  /** Points on a flat curve, so that hardly two distances are the same float. */
  private static float[] point(int id) {
    return new float[] {id, id * id / 811f};
  }

  private VectorSchemaRoot answer(Command command) {
    VectorSchemaRoot rows =
        switch (command) {
          case Command.Scan scan -> points(IntStream.range(0, stored).toArray(), false);
          case Command.Get get ->
              points(
                  get.ids().stream().mapToInt(id -> Integer.parseInt(id.text())).toArray(), true);
          case Command.Search search -> hits(search);
          default -> throw new AssertionError(command);
        };
    sent.add(rows);
    return rows;
  }

  private VectorSchemaRoot points(int[] ids, boolean withVectors) {
    List<Field> fields = new ArrayList<>();
    fields.add(Field.notNullable("id", new ArrowType.Int(64, true)));
    if (withVectors) {
      Field item =
          Field.notNullable("item", new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE));
      fields.add(
          new Field("at", FieldType.notNullable(new ArrowType.FixedSizeList(2)), List.of(item)));
    }
    VectorSchemaRoot rows = VectorSchemaRoot.create(new Schema(fields), allocator);
    rows.allocateNew();
    for (int row = 0; row < ids.length; row++) {
      ((BigIntVector) rows.getVector("id")).setSafe(row, ids[row]);
      if (withVectors) {
        FixedSizeListVector at = (FixedSizeListVector) rows.getVector("at");
        at.setNotNull(row);
        Float4Vector items = (Float4Vector) at.getDataVector();
        items.setSafe(2 * row, point(ids[row])[0]);
        items.setSafe(2 * row + 1, point(ids[row])[1]);
      }
    }
    rows.setRowCount(ids.length);
    return rows;
  }

  private VectorSchemaRoot hits(Command.Search search) {
    byte[] packed = ((Command.Query.PackedVectors) search.query()).littleEndian();
    ByteBuffer queries = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    VectorSchemaRoot rows =
        VectorSchemaRoot.create(
            new Schema(
                List.of(
                    Field.notNullable("query", new ArrowType.Int(32, true)),
                    Field.notNullable("id", new ArrowType.Int(64, true)),
                    Field.notNullable(
                        "_score", new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)))),
            allocator);
    rows.allocateNew();
    int row = 0;
    for (int query = 0; queries.hasRemaining(); query++) {
      double x = queries.getFloat();
      double y = queries.getFloat();
      List<Integer> nearest =
          IntStream.range(0, POINTS)
              .boxed()
              .sorted(Comparator.comparingDouble(id -> distance(id, x, y)))
              .toList();
      int shown = 0;
      for (int place = 0; shown < search.k(); place++) {
        if (search.effort() instanceof ShardRead.Effort.Exact || !hidden.contains(place)) {
          ((IntVector) rows.getVector("query")).setSafe(row, query);
          ((BigIntVector) rows.getVector("id")).setSafe(row, nearest.get(place));
          ((Float4Vector) rows.getVector("_score"))
              .setSafe(row++, (float) distance(nearest.get(place), x, y));
          shown++;
        }
      }
    }
    rows.setRowCount(row);
    return rows;
  }

  private static double distance(int id, double x, double y) {
    return Math.hypot(point(id)[0] - x, point(id)[1] - y);
  }

  private JsonNode figures(Run run) {
    assertThat(run.err()).isEmpty();
    assertThat(run.code()).isZero();
    return run.json().path("figures");
  }

  @Test
  void aSearchThatFindsAllHasRecallOne() {
    JsonNode figures = figures(cluster.run("recall", "films", "--queries", "120", "--json"));
    assertThat(figures).hasSize(2);
    for (JsonNode one : figures) {
      assertThat(one.path("count").asInt()).isEqualTo(120);
      assertThat(one.path("recall").asDouble()).isEqualTo(1);
      assertThat(one.path("worst").asDouble()).isEqualTo(1);
      assertThat(one.path("took_us").asLong()).isEqualTo(25); // 3 requests of 1 ms
    }
  }

  @Test
  void aCollectionWithoutPointsHasNoRecall() {
    stored = 0;
    for (JsonNode one : figures(cluster.run("recall", "films", "--json"))) {
      assertThat(one.path("count").asInt()).isZero();
      assertThat(one.path("recall").isNull()).isTrue();
      assertThat(one.path("worst").isNull()).isTrue();
    }
    assertThat(cluster.run("recall", "films").out()).doesNotContain("1.0");
  }

  @Test
  void missedHitsAreCountedAndTheRowItselfIsNone() {
    // A seed of which no query lies as far from two points, whose order would be luck.
    // The nearest row to a stored vector is that row, which is no hit of its own.
    hidden = Set.of(0);
    JsonNode figures =
        figures(cluster.run("recall", "films", "--queries", "100", "--seed", "7", "--json"));
    assertThat(figures.get(0).path("recall").asDouble()).isEqualTo(1);
    assertThat(figures.get(1).path("recall").asDouble()).isEqualTo(0.9, within(1e-9));

    hidden = Set.of(1, 3, 5);
    figures = figures(cluster.run("recall", "films", "--queries", "100", "--seed", "7", "--json"));
    for (JsonNode one : figures) {
      assertThat(one.path("recall").asDouble()).isEqualTo(0.7, within(1e-9));
      assertThat(one.path("below_0_8").asDouble()).isEqualTo(1);
      assertThat(one.path("worst").asDouble()).isEqualTo(0.7, within(1e-9));
    }
  }

  @Test
  void whatWasAskedForIsWhatIsMeasured() {
    Run run =
        cluster.run(
            "recall",
            "films",
            "--queries",
            "3",
            "-k",
            "5",
            "--recall",
            "0.99",
            "--seed",
            "7",
            "--filter",
            "note = $1",
            "--param",
            "x");
    assertThat(run.code()).isZero();
    assertThat(run.out()).contains("recall@5 of field at, asked for 0.99", "--seed 7");
    assertThat(cluster.asked.stream().filter(Command.Search.class::isInstance).toList())
        .hasSize(4)
        .allSatisfy(
            one ->
                assertThat(((Command.Search) one).filter().orElseThrow().text())
                    .isEqualTo("note = $1"));
  }

  @Test
  void aSeedDrawsTheSameQueries() {
    String[] command = {"recall", "films", "--queries", "20", "--seed", "7", "--json"};
    cluster.run(command);
    List<String> first = cluster.asked.stream().map(RecallCommandTest::text).toList();
    cluster.asked.clear();
    cluster.run(command);
    assertThat(cluster.asked.stream().map(RecallCommandTest::text))
        .containsExactlyElementsOf(first);
  }

  private static String text(Command command) {
    return new String(Commands.print(command), StandardCharsets.UTF_8);
  }

  @Test
  void aFieldThatIsNotThereIsRefusedWithThoseThatAre() {
    Run run = cluster.run("recall", "films", "--field", "note");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("--field 'note' is no vector field, expected one of at");
    assertThat(cluster.run("recall", "films", "--queries", "0").code()).isEqualTo(2);
    assertThat(cluster.run("recall", "films", "--recall", "2").code()).isEqualTo(2);
  }
}
