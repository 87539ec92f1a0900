// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;

/** A {@link ReadStamp} as JSON in the schema metadata of an internal read's answer. */
public final class StampJson {
  /** Key in the schema metadata. */
  public static final String METADATA_KEY = "sagitta.stamp";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private StampJson() {}

  public static String print(ReadStamp stamp) {
    ObjectNode out =
        MAPPER
            .createObjectNode()
            .put("shard", stamp.shard().toString())
            .put("index", stamp.index())
            .put("replica", stamp.replica())
            .put("exact", stamp.exact())
            .put("graph", stamp.graph())
            .put("masked", stamp.masked())
            .put("two_hop", stamp.twoHop())
            .put("scan", stamp.scan())
            .put("visited", stamp.visited())
            .put("recall_planned", stamp.recallPlanned())
            .put("more", stamp.more())
            .put("explain", stamp.explain());
    return out.toString();
  }

  /** Reads {@link #print}; a missing stamp or one that is malformed is INTERNAL. */
  public static ReadStamp parse(String json) {
    try {
      JsonNode in = MAPPER.readTree(json == null ? "" : json);
      return new ReadStamp(
          ShardId.parse(in.required("shard").asText()),
          in.required("index").asLong(),
          in.required("replica").asText(),
          in.required("exact").asBoolean(),
          in.required("graph").asInt(),
          in.required("masked").asInt(),
          in.required("two_hop").asInt(),
          in.required("scan").asInt(),
          in.required("visited").asLong(),
          in.required("recall_planned").asDouble(),
          in.required("more").asBoolean(),
          in.required("explain").asText());
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new SagittaException(
          ErrorCode.INTERNAL, "a peer's answer has no readable " + METADATA_KEY, e);
    }
  }
}
