// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * What an answer says of itself: which shards answered, from which replica and at which log index,
 * whether every matching point was considered, and what it cost. Travels as JSON of at most {@value
 * #BYTES_MAX} bytes in the schema metadata of the answer, under {@value #METADATA_KEY}.
 *
 * @param shards shards that answered, by number
 * @param missing numbers of the shards that did not; only ever with {@code partial}
 * @param consistency the level served, as requests name it
 * @param exact whether every live matching point of every shard that answered was considered
 * @param strategy segments by the way they were searched
 * @param visited vectors scored
 * @param recallPlanned recall the effort was planned for; 1 when exact
 * @param tookUs microseconds from the request's arrival to the answer's first byte
 */
public record Certificate(
    List<ShardPart> shards,
    List<Integer> missing,
    String consistency,
    boolean exact,
    Strategy strategy,
    long visited,
    double recallPlanned,
    long tookUs) {

  /** Key of the certificate in the schema metadata of an answer. */
  public static final String METADATA_KEY = "sagitta.certificate";

  /** Key of the per-segment detail that {@code explain} adds. */
  public static final String EXPLAIN_KEY = "sagitta.explain";

  /** Bytes of its JSON. */
  public static final int BYTES_MAX = 1_024;

  private static final ObjectMapper MAPPER = new ObjectMapper();

  public Certificate {
    shards = List.copyOf(shards);
    missing = List.copyOf(missing);
  }

  /**
   * A shard that answered.
   *
   * @param shard its number
   * @param index log index of the view that was read
   * @param replica name of the node that answered
   */
  public record ShardPart(int shard, long index, String replica) {}

  /** Segments by the way they were searched. */
  public record Strategy(int graph, int masked, int twoHop, int scan) {}

  /**
   * The JSON text. Where all shards do not fit, the last are left out and {@code shards_left_out}
   * counts them; likewise {@code missing_left_out}. So an answer of very many shards stays within
   * its bound and does not pretend to name them all.
   */
  public String toJson() {
    if (json(shards.size(), missing.size()).length <= BYTES_MAX) {
      return text(shards.size(), missing.size());
    }
    // What is missing matters more than what is there.
    int missingShown = mostThatFit(missing.size(), n -> json(0, n).length);
    return text(mostThatFit(shards.size(), n -> json(n, missingShown).length), missingShown);
  }

  /** The largest of {@code 0..max} for which the text stays in its bound; 0 always does. */
  private static int mostThatFit(int max, IntUnaryOperator bytes) {
    int fits = 0;
    int tooMany = max + 1;
    while (tooMany - fits > 1) {
      int middle = (fits + tooMany) >>> 1;
      if (bytes.applyAsInt(middle) <= BYTES_MAX) {
        fits = middle;
      } else {
        tooMany = middle;
      }
    }
    return fits;
  }

  private String text(int shardsShown, int missingShown) {
    return new String(json(shardsShown, missingShown), StandardCharsets.UTF_8);
  }

  private byte[] json(int shardsShown, int missingShown) {
    return Commands.write(out -> write(shardsShown, missingShown, out));
  }

  private void write(int shardsShown, int missingShown, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeArrayFieldStart("shards");
    for (ShardPart part : shards.subList(0, shardsShown)) {
      out.writeStartObject();
      out.writeNumberField("shard", part.shard());
      out.writeNumberField("index", part.index());
      out.writeStringField("replica", part.replica());
      out.writeEndObject();
    }
    out.writeEndArray();
    if (shardsShown < shards.size()) {
      out.writeNumberField("shards_left_out", shards.size() - shardsShown);
    }
    out.writeArrayFieldStart("missing");
    for (int shard : missing.subList(0, missingShown)) {
      out.writeNumber(shard);
    }
    out.writeEndArray();
    if (missingShown < missing.size()) {
      out.writeNumberField("missing_left_out", missing.size() - missingShown);
    }
    out.writeStringField("consistency", consistency);
    out.writeBooleanField("exact", exact);
    out.writeObjectFieldStart("strategy");
    out.writeNumberField("graph", strategy.graph());
    out.writeNumberField("masked", strategy.masked());
    out.writeNumberField("two_hop", strategy.twoHop());
    out.writeNumberField("scan", strategy.scan());
    out.writeEndObject();
    out.writeNumberField("visited", visited);
    out.writeNumberField("recall_planned", recallPlanned);
    out.writeNumberField("took_us", tookUs);
    out.writeEndObject();
  }

  /** Reads {@link #toJson}; keys that are not known are passed over, since servers may be newer. */
  public static Certificate parse(String json) {
    try {
      JsonNode node = MAPPER.readTree(json);
      List<ShardPart> shards = new ArrayList<>();
      for (JsonNode part : node.path("shards")) {
        shards.add(
            new ShardPart(
                part.path("shard").asInt(),
                part.path("index").asLong(),
                part.path("replica").asText()));
      }
      List<Integer> missing = new ArrayList<>();
      node.path("missing").forEach(shard -> missing.add(shard.asInt()));
      JsonNode strategy = node.path("strategy");
      return new Certificate(
          shards,
          missing,
          node.path("consistency").asText(),
          node.path("exact").asBoolean(),
          new Strategy(
              strategy.path("graph").asInt(),
              strategy.path("masked").asInt(),
              strategy.path("two_hop").asInt(),
              strategy.path("scan").asInt()),
          node.path("visited").asLong(),
          node.path("recall_planned").asDouble(),
          node.path("took_us").asLong());
    } catch (IOException e) {
      throw new SagittaException(ErrorCode.INTERNAL, "the certificate is not JSON: " + json, e);
    }
  }
}
