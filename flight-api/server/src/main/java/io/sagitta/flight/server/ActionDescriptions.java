// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import java.util.List;
import org.apache.arrow.flight.ActionType;

/** What {@code ListActions} tells, in the order of {@link io.sagitta.flight.Commands#ACTIONS}. */
final class ActionDescriptions {
  static final List<ActionType> ALL =
      List.of(
          new ActionType(
              "create", "Creates a collection: collection, id, fields, shards, replicas."),
          new ActionType("drop", "Drops a collection: collection."),
          new ActionType("describe", "Schema, placement and size of a collection: collection."),
          new ActionType("verify", "Compares the replicas of a collection by digest: collection."),
          new ActionType("count", "Counts points: collection, filter, params, consistency."),
          new ActionType("delete", "Deletes what a filter matches: collection, filter, params."),
          new ActionType("set", "Sets payload: collection, filter or ids, values."),
          new ActionType("unset", "Makes payload null: collection, filter or ids, fields."),
          new ActionType("open_writer", "Opens a writer whose puts take effect once: after."),
          new ActionType("status", "Nodes, health and metadata leader of the cluster."));

  private ActionDescriptions() {}
}
