// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Certificate;
import io.sagitta.flight.Certificate.ShardPart;
import io.sagitta.flight.Certificate.Strategy;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.ShardMap;
import java.util.ArrayList;
import java.util.List;

/** Sums up what the shards said of their answers. */
public final class Certificates {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Certificates() {}

  /**
   * The certificate of an answer: exact if every shard's was, planned for the lowest recall of any.
   *
   * @param shards shards that answered
   * @param stamps their stamps, in the same order
   */
  public static Certificate of(
      List<ShardMap.Shard> shards,
      List<ReadStamp> stamps,
      List<ShardMap.Shard> missing,
      String consistency,
      long tookUs) {
    List<ShardPart> parts = new ArrayList<>();
    boolean exact = true;
    int graph = 0;
    int masked = 0;
    int twoHop = 0;
    int scan = 0;
    long visited = 0;
    double recall = 1;
    for (int i = 0; i < stamps.size(); i++) {
      ReadStamp stamp = stamps.get(i);
      parts.add(new ShardPart(shards.get(i).number(), stamp.index(), stamp.replica()));
      exact &= stamp.exact();
      graph += stamp.graph();
      masked += stamp.masked();
      twoHop += stamp.twoHop();
      scan += stamp.scan();
      visited += stamp.visited();
      recall = Math.min(recall, stamp.recallPlanned());
    }
    return new Certificate(
        parts,
        missing.stream().map(ShardMap.Shard::number).toList(),
        consistency,
        exact,
        new Strategy(graph, masked, twoHop, scan),
        visited,
        recall,
        tookUs);
  }

  /**
   * Per-segment detail of every shard that gave some, as a JSON array; empty text when none did.
   */
  public static String explain(List<ShardMap.Shard> shards, List<ReadStamp> stamps) {
    ArrayNode all = JSON.createArrayNode();
    for (int i = 0; i < stamps.size(); i++) {
      ReadStamp stamp = stamps.get(i);
      if (stamp.explain().isEmpty()) {
        continue;
      }
      ObjectNode one =
          all.addObject().put("shard", shards.get(i).number()).put("replica", stamp.replica());
      try {
        one.set("segments", JSON.readTree(stamp.explain()));
      } catch (JsonProcessingException e) {
        one.put("segments", stamp.explain());
      }
    }
    return all.isEmpty() ? "" : all.toString();
  }
}
