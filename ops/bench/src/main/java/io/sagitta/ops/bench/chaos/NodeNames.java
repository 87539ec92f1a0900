// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.NodeProcess;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What the cluster calls a node and what we call its process: nodes are numbered in the order in
 * which they joined, processes in the order in which they were started, and ports tell which is
 * which.
 */
public final class NodeNames {
  private final Map<Integer, String> byPort = new HashMap<>();

  private NodeNames() {}

  /** Names of a cluster's processes. */
  public static NodeNames of(ClusterProcesses cluster) {
    NodeNames names = new NodeNames();
    for (NodeProcess node : cluster.nodes()) {
      String endpoint = node.endpoint();
      int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
      names.byPort.put(port, node.name());
    }
    return names;
  }

  /** Our name of the node that leads a shard, by an answer of {@code status}. */
  Optional<String> leader(JsonNode status, String collection, int shard) {
    for (JsonNode candidate : status.path("collections")) {
      if (candidate.path("name").asText().equals(collection)) {
        JsonNode leader = candidate.path("shards").path(shard).path("leader");
        return leader.isTextual() ? process(status, leader.textValue()) : Optional.empty();
      }
    }
    return Optional.empty();
  }

  private Optional<String> process(JsonNode status, String node) {
    for (JsonNode candidate : status.path("nodes")) {
      if (candidate.path("name").asText().equals(node)) {
        return Optional.ofNullable(byPort.get(candidate.at("/ports/flight").asInt()));
      }
    }
    return Optional.empty();
  }
}
