// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.JsonMistake;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.cli.Connection.RowsEnd;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Nearest points. */
@Command(name = "search", description = "Finds the nearest points.")
final class SearchCommand extends ClusterCommand {
  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @ArgGroup(exclusive = true, multiplicity = "1")
  private Query query;

  @Option(names = "-k", paramLabel = "N", description = "How many hits; default 10.")
  private BigInteger k;

  @Option(names = "--offset", paramLabel = "N", description = "Hits to leave out first.")
  private BigInteger offset;

  @Option(
      names = "--field",
      paramLabel = "FIELD",
      description = "The vector field, where there are several.")
  private String field;

  @ArgGroup(exclusive = true)
  private Effort effort;

  @Option(names = "--min-score", paramLabel = "SCORE", description = "For cosine and dot.")
  private BigDecimal minScore;

  @Option(names = "--max-distance", paramLabel = "DISTANCE", description = "For l2 and hamming.")
  private BigDecimal maxDistance;

  @Option(
      names = "--group-by",
      paramLabel = "FIELD",
      description = "The best hit of each value of this field; -k and --offset count groups.")
  private String groupBy;

  @Option(
      names = "--group-size",
      paramLabel = "N",
      description = "Hits of each group at most; default 1.")
  private BigInteger groupSize;

  @Option(
      names = "--partial",
      description = "Answer also where shards are missing; the certificate names them.")
  private boolean partial;

  @Option(names = "--explain", description = "Say what was done in each segment.")
  private boolean explain;

  @Mixin private FilterOptions filter;
  @Mixin private ReadOptions.Fields fields;
  @Mixin private ReadOptions read;

  /** What to search for. */
  private static final class Query {
    @Option(
        names = "--vector",
        paramLabel = "NUMBERS",
        description = "Comma-separated numbers, a JSON array, or @FILE with either.")
    private String vector;

    @Option(names = "--like", paramLabel = "ID", description = "The vector of this point.")
    private String like;
  }

  /** How hard to try. */
  private static final class Effort {
    @Option(names = "--exact", description = "Compare with every point.")
    private boolean exact;

    @Option(
        names = "--recall",
        paramLabel = "R",
        description = "Mean share of the true hits to find; default 0.95.")
    private BigDecimal recall;

    @Option(names = "--ef", paramLabel = "N", description = "Candidates to hold.")
    private BigInteger ef;
  }

  @Override
  int run(Connection connection, Printer printer) {
    ObjectNode body = collectionBody(name);
    if (query.vector != null) {
      body.set("vector", vector(query.vector));
    } else {
      body.set("like", PointIds.json(PointIds.typeOf(describe(connection, name)), query.like));
    }
    if (field != null) {
      body.put("field", field);
    }
    if (k != null) {
      body.put("k", k);
    }
    if (offset != null) {
      body.put("offset", offset);
    }
    addEffort(body);
    if (minScore != null) {
      body.put("min_score", minScore);
    }
    if (maxDistance != null) {
      body.put("max_distance", maxDistance);
    }
    if (groupBy != null) {
      body.put("group_by", groupBy);
    }
    if (groupSize != null) {
      body.put("group_size", groupSize);
    }
    if (partial) {
      body.put("partial", true);
    }
    if (explain) {
      body.put("explain", true);
    }
    body.put("timeout_ms", timeout().toMillis());
    filter.addTo(body);
    fields.addTo(body);
    read.addTo(body);
    List<ObjectNode> rows = new ArrayList<>();
    RowsEnd end = connection.rows(request("search", body), batch -> RowValues.addRows(batch, rows));
    rows.forEach(row -> row.remove("query")); // one query: the column says nothing
    Map<String, JsonNode> beside = new LinkedHashMap<>();
    end.certificate().ifPresent(text -> beside.put("certificate", parse(text)));
    end.explain().ifPresent(text -> beside.put("explain", parse(text)));
    printer.rows(rows, RowValues.without(end, "query"), beside);
    return 0;
  }

  private void addEffort(ObjectNode body) {
    if (effort == null) {
      return;
    }
    if (effort.exact) {
      body.put("exact", true);
    }
    if (effort.recall != null) {
      body.put("recall", effort.recall);
    }
    if (effort.ef != null) {
      body.put("ef", effort.ef);
    }
  }

  private static JsonNode vector(String text) {
    String numbers = (text.startsWith("@") ? content(text.substring(1)) : text).strip();
    try {
      JsonNode array =
          FilterOptions.EXACT.readTree(numbers.startsWith("[") ? numbers : "[" + numbers + "]");
      if (array instanceof ArrayNode vector) {
        return vector;
      }
    } catch (JsonProcessingException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT,
          "--vector is not comma-separated numbers or a JSON array: " + JsonMistake.describe(e),
          e);
    }
    throw SagittaException.invalid("--vector is not comma-separated numbers or a JSON array");
  }

  private static String content(String file) {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "--vector: file '" + file + "' cannot be read", e);
    }
  }

  /** JSON that the server sent. */
  static JsonNode parse(String json) {
    try {
      return FilterOptions.EXACT.readTree(json);
    } catch (JsonProcessingException e) {
      throw new SagittaException(
          ErrorCode.INTERNAL, "the server sent malformed JSON: " + JsonMistake.describe(e), e);
    }
  }
}
