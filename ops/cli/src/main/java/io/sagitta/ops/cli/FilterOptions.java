// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.List;
import picocli.CommandLine.Option;

/** {@code --filter} and its parameters. */
final class FilterOptions {
  /** Numbers keep their digits: 2^53 + 1 must not become 2^53. */
  static final ObjectMapper EXACT =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  @Option(
      names = "--filter",
      paramLabel = "EXPR",
      description = "Which points, such as \"category = 'noun.animal' AND senses > $1\".")
  private String filter;

  @Option(
      names = "--param",
      paramLabel = "VALUE",
      description =
          "Value of $1, $2, ... in the filter, once for each: a JSON value, or else a string. Values"
              + " given so are never read as part of the filter.")
  private List<String> params = List.of();

  /** Adds what was given to a request. */
  void addTo(ObjectNode body) {
    if (filter != null) {
      body.put("filter", filter);
    }
    if (!params.isEmpty()) {
      ArrayNode array = body.putArray("params");
      params.forEach(param -> array.add(value(param)));
    }
  }

  /** JSON as it stands; anything else is the string itself. */
  static JsonNode value(String text) {
    try {
      JsonNode node = EXACT.readTree(text);
      return node.isMissingNode() || node.isObject() ? new TextNode(text) : node;
    } catch (JsonProcessingException e) {
      return new TextNode(text);
    }
  }
}
