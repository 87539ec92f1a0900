// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.Metric;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorType;
import io.sagitta.ops.cli.Connection.RowsEnd;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The recall that searches have now, against exact ones. */
@Command(
    name = "recall",
    description = {
      "Measures the recall that searches of a collection have now: each query is asked as it is and"
          + " with exact, and the hits are compared.",
      "Queries are stored vectors drawn at random (the row itself does not count as a hit) and"
          + " points between two of them. Reads all ids once to draw from."
    })
final class RecallCommand extends ClusterCommand {
  /** Query vectors a request, and ids a get. */
  private static final int BATCH = 50;

  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @Option(
      names = "--field",
      paramLabel = "FIELD",
      description = "The vector field, where there are several.")
  private String field;

  @Option(names = "-k", paramLabel = "N", description = "How many hits; default 10.")
  private int k = 10;

  @Option(
      names = "--queries",
      paramLabel = "N",
      description = "Queries of each kind, 1 to 100,000; default 500.")
  private int queries = 500;

  @ArgGroup(exclusive = true)
  private Effort effort;

  @Option(names = "--seed", paramLabel = "S", description = "Draws the queries of an earlier run.")
  private Long seed;

  @Mixin private FilterOptions filter;

  /** How hard the searches that are measured try. */
  private static final class Effort {
    @Option(names = "--recall", paramLabel = "R", description = "What is asked; default 0.95.")
    private BigDecimal recall;

    @Option(names = "--ef", paramLabel = "N", description = "Candidates to hold instead.")
    private BigInteger ef;
  }

  /** The field that is searched. */
  private record VectorColumn(String name, VectorType type, int dimension, Metric metric) {}

  /** A row drawn. */
  private record Drawn(JsonNode id, float[] vector) {}

  @Override
  int run(Connection connection, Printer printer) {
    if (k < 1 || queries < 1 || queries > 100_000) {
      throw SagittaException.invalid(
          "-k is %d and --queries %d, expected at least 1 each, and at most 100000 queries"
              .formatted(k, queries));
    }
    VectorColumn column = column(describe(connection, name));
    long drawnBy = seed == null ? new SplittableRandom().nextLong() : seed;
    RandomGenerator random = new SplittableRandom(drawnBy);
    List<Drawn> drawn = draw(connection, column, random);
    List<float[]> vectors = drawn.stream().map(Drawn::vector).toList();
    RecallFigures stored = new RecallFigures("stored");
    measure(connection, column, vectors, drawn, stored);
    RecallFigures between = new RecallFigures("between");
    measure(
        connection,
        column,
        new RecallQueries(column.type).between(vectors, queries, random),
        List.of(),
        between);
    print(printer, column, drawnBy, List.of(stored, between));
    return 0;
  }

  private void print(
      Printer printer, VectorColumn column, long drawnBy, List<RecallFigures> figures) {
    if (printer.json()) {
      ObjectNode answer = collectionBody(name).put("field", column.name).put("k", k);
      addEffort(answer);
      answer.put("seed", drawnBy);
      ArrayNode kinds = answer.putArray("figures");
      figures.forEach(one -> kinds.add(one.json()));
      printer.object(answer);
      return;
    }
    Table table = Table.of("queries", "count", "recall", "below 0.8", "worst", "ms", "exact ms");
    for (int c = 1; c < 7; c++) {
      table.numeric(c);
    }
    figures.forEach(one -> one.addTo(table));
    printer.table(table);
    printer.line(
        "recall@%d of field %s, asked for %s; the same queries again: --seed %d"
            .formatted(k, column.name, asked(), drawnBy));
  }

  private String asked() {
    if (effort != null && effort.ef != null) {
      return "ef " + effort.ef;
    }
    return effort == null ? "0.95" : effort.recall.toPlainString();
  }

  private VectorColumn column(JsonNode description) {
    List<VectorColumn> columns = new ArrayList<>();
    for (JsonNode one : description.path("fields")) {
      if (one.has("metric")) {
        columns.add(
            new VectorColumn(
                one.path("name").asText(),
                VectorType.valueOf(upper(one.path("type"))),
                one.path("dim").asInt(),
                Metric.valueOf(upper(one.path("metric")))));
      }
    }
    List<VectorColumn> meant =
        columns.stream().filter(one -> field == null || one.name.equals(field)).toList();
    if (meant.size() != 1) {
      throw SagittaException.invalid(
          (field == null ? "--field is missing" : "--field '" + field + "' is no vector field")
              + ", expected one of "
              + String.join(", ", columns.stream().map(VectorColumn::name).toList()));
    }
    return meant.getFirst();
  }

  private static String upper(JsonNode text) {
    return text.asText().toUpperCase(Locale.ROOT);
  }

  private List<Drawn> draw(Connection connection, VectorColumn column, RandomGenerator random) {
    // One pass, each row as likely as any (Vitter 1985, algorithm R).
    List<JsonNode> ids = new ArrayList<>();
    long[] seen = {0};
    ObjectNode scan = collectionBody(name);
    scan.putArray("fields");
    connection.rows(
        request("scan", scan),
        batch -> {
          for (int row = 0; row < batch.getRowCount(); row++) {
            seen[0]++;
            if (ids.size() < queries) {
              ids.add(RowValues.value(batch.getVector("id"), row));
            } else {
              long place = random.nextLong(seen[0]);
              if (place < queries) {
                ids.set((int) place, RowValues.value(batch.getVector("id"), row));
              }
            }
          }
        });
    List<Drawn> drawn = new ArrayList<>();
    for (int from = 0; from < ids.size(); from += BATCH) {
      ObjectNode get = collectionBody(name);
      get.putArray("ids").addAll(ids.subList(from, Math.min(ids.size(), from + BATCH)));
      get.putArray("fields").add(column.name);
      List<ObjectNode> rows = new ArrayList<>();
      connection.rows(request("get", get), batch -> RowValues.addRows(batch, rows));
      for (ObjectNode row : rows) {
        JsonNode value = row.get(column.name);
        if (!value.isNull()) {
          float[] vector = RecallQueries.components(column.type, column.dimension, value);
          drawn.add(new Drawn(row.get("id"), vector));
        }
      }
    }
    return drawn;
  }

  /**
   * Asks all queries.
   *
   * @param rows the row of each query, which is no hit of its own; empty where they are none
   */
  private void measure(
      Connection connection,
      VectorColumn column,
      List<float[]> vectors,
      List<Drawn> rows,
      RecallFigures figures) {
    for (int from = 0; from < vectors.size(); from += BATCH) {
      int to = Math.min(vectors.size(), from + BATCH);
      List<JsonNode> own =
          rows.isEmpty() ? List.of() : rows.subList(from, to).stream().map(Drawn::id).toList();
      List<float[]> batch = vectors.subList(from, to);
      Hits found = search(connection, column, batch, own, false);
      Hits truth = search(connection, column, batch, own, true);
      figures.took(found.tookUs, truth.tookUs);
      for (int i = 0; i < batch.size(); i++) {
        figures.add(found.scores.get(i), truth.scores.get(i), column.metric.higherIsBetter());
      }
    }
  }

  /** Scores by query, best first, and the time of the request. */
  private record Hits(List<float[]> scores, long tookUs) {}

  private Hits search(
      Connection connection,
      VectorColumn column,
      List<float[]> vectors,
      List<JsonNode> own,
      boolean exact) {
    ObjectNode body = collectionBody(name).put("field", column.name);
    body.put("vector_f32", RecallQueries.packed(vectors));
    body.put("k", own.isEmpty() ? k : k + 1);
    body.putArray("fields");
    filter.addTo(body);
    if (exact) {
      body.put("exact", true);
    } else {
      addEffort(body);
    }
    body.put("timeout_ms", timeout().toMillis());
    List<ObjectNode> rows = new ArrayList<>();
    RowsEnd end = connection.rows(request("search", body), batch -> RowValues.addRows(batch, rows));
    float[][] scores = new float[vectors.size()][k];
    int[] counts = new int[vectors.size()];
    for (ObjectNode row : rows) {
      int query = row.path("query").asInt();
      boolean itself = !own.isEmpty() && row.get("id").equals(own.get(query));
      if (!itself && counts[query] < k) {
        scores[query][counts[query]++] = row.path("_score").floatValue();
      }
    }
    List<float[]> out = new ArrayList<>();
    for (int query = 0; query < scores.length; query++) {
      out.add(Arrays.copyOf(scores[query], counts[query]));
    }
    return new Hits(out, end.certificate().map(RecallCommand::tookUs).orElse(0L));
  }

  private static long tookUs(String certificate) {
    return SearchCommand.parse(certificate).path("took_us").asLong();
  }

  private void addEffort(ObjectNode body) {
    if (effort != null && effort.recall != null) {
      body.put("recall", effort.recall);
    }
    if (effort != null && effort.ef != null) {
      body.put("ef", effort.ef);
    }
  }
}
