// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.RequestHandler.CollectionSummary;
import io.sagitta.flight.RequestHandler.ScanPart;
import io.sagitta.flight.RequestHandler.ScanPlan;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.Names;
import io.sagitta.model.NodeId;
import io.sagitta.model.PayloadField;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.VectorField;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.plan.AnswerFields;
import io.sagitta.router.plan.ExistingCollection;
import io.sagitta.router.plan.Filters;
import io.sagitta.router.plan.Freshness;
import io.sagitta.router.routing.LeaderCache;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.routing.ReplicaChoice;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.vector.types.pojo.Schema;

/** Collections as things of their own: created, dropped, listed, described. */
final class Collections {
  /** Rows of a listing are a nicety: what takes longer is not waited for. */
  private static final Duration LISTED_ROWS_WAIT = Duration.ofSeconds(1);

  /** Between two looks whether what another creates is there: it takes some tenths of a second. */
  private static final Duration CREATING_PAUSE = Duration.ofMillis(20);

  private static final Consistency ANY =
      new Consistency(Consistency.Level.ANY, Optional.empty(), OptionalLong.empty());

  private static final ObjectMapper JSON = new ObjectMapper();

  private final RouterParts parts;
  private final MapCache maps;
  private final LeaderCache leaders;
  private final ReplicaChoice choice;
  private final Points points;

  Collections(
      RouterParts parts, MapCache maps, LeaderCache leaders, ReplicaChoice choice, Points points) {
    this.parts = parts;
    this.maps = maps;
    this.leaders = leaders;
    this.choice = choice;
    this.points = points;
  }

  byte[] create(CreateSpec spec, ActiveCall call) throws InterruptedException {
    ShardMap.Collection created = created(spec, call);
    return bytes(
        JSON.createObjectNode()
            .put("collection", created.name())
            .put("shards", created.shards().size()));
  }

  private ShardMap.Collection created(CreateSpec spec, ActiveCall call)
      throws InterruptedException {
    Names.checkCollection("collection", spec.collection());
    return await("create", parts.metadata().create(spec, call.context()), call)
        .requireCollection(spec.collection());
  }

  /**
   * The collection, created first if there is none; another may create it at the same time. One
   * that is there is what {@code spec} asks for, or it is refused.
   */
  ShardMap.Collection requireOrCreate(CreateSpec spec, ActiveCall call)
      throws InterruptedException {
    return ExistingCollection.requireAsAsked(findOrCreate(spec, call), spec);
  }

  private ShardMap.Collection findOrCreate(CreateSpec spec, ActiveCall call)
      throws InterruptedException {
    while (true) {
      try {
        return maps.requireFresh(spec.collection(), call);
      } catch (SagittaException e) {
        if (e.code() != ErrorCode.NOT_FOUND) {
          throw e;
        }
      }
      try {
        return created(spec, call);
      } catch (SagittaException e) {
        if (e.code() != ErrorCode.ALREADY_EXISTS) {
          throw e;
        }
        // Another is creating it. Until its shards are there it is on no map; and should that
        // fail, it is for us to create.
        if (call.isOver()) {
          throw call.ended("create", e);
        }
        call.pause(CREATING_PAUSE.toNanos());
      }
    }
  }

  byte[] drop(String name, ActiveCall call) throws InterruptedException {
    Names.checkCollection("collection", name);
    await("drop", parts.metadata().drop(name, call.context()), call);
    return bytes(JSON.createObjectNode().put("collection", name));
  }

  byte[] status(ActiveCall call) throws InterruptedException {
    return bytes(await("status", parts.metadata().status(call.context()), call));
  }

  byte[] verify(String name, ActiveCall call) throws InterruptedException {
    ShardMap.Collection collection = maps.requireFresh(name, call);
    return bytes(await("verify", parts.metadata().verify(collection, call.context()), call));
  }

  /**
   * Every collection in the order of names, with the rows it has, or -1 where that is not known.
   */
  List<CollectionSummary> list(ActiveCall call) throws InterruptedException {
    ShardMap map = maps.refresh(0, call);
    List<CollectionSummary> all = new ArrayList<>();
    ActiveCall brief = call.part(LISTED_ROWS_WAIT.toNanos());
    for (ShardMap.Collection collection : new TreeMap<>(map.collections()).values()) {
      long rows = -1;
      try {
        rows = brief.isOver() ? -1 : points.count(collection, Optional.empty(), ANY, brief);
      } catch (SagittaException e) {
        // A shard is away; the collection is listed all the same.
      }
      all.add(
          new CollectionSummary(
              collection.name(), ArrowSchemas.toArrow(collection.schema()), rows));
    }
    return all;
  }

  Schema schema(String name, ActiveCall call) throws InterruptedException {
    return ArrowSchemas.toArrow(maps.requireFresh(name, call).schema());
  }

  ScanPlan planScan(Command.Scan scan, ActiveCall call) throws InterruptedException {
    return maps.with(scan.collection(), call, collection -> planScan(collection, scan));
  }

  private ScanPlan planScan(ShardMap.Collection collection, Command.Scan scan) {
    Filters.check(collection.schema(), scan.filter());
    Schema schema = Scans.schema(collection, AnswerFields.of(collection.schema(), scan.fields()));
    Freshness freshness = Freshness.of(scan.consistency());
    ShardMap map = maps.current();
    List<ScanPart> scanParts =
        collection.shards().stream()
            .map(
                shard ->
                    new ScanPart(
                        shard.number(), choice.forRead(map, shard, freshness.mode(shard.id()), 0)))
            .toList();
    return new ScanPlan(schema, scanParts);
  }

  /**
   * Schema in the form that {@code create} takes, shards with their slots, replicas and likely
   * leader, rows, and what the node adds.
   */
  byte[] describe(String name, ActiveCall call) throws InterruptedException {
    return maps.with(name, call, collection -> describe(collection, call));
  }

  private byte[] describe(ShardMap.Collection collection, ActiveCall call)
      throws InterruptedException {
    ShardMap map = maps.current();
    ObjectNode out = JSON.createObjectNode();
    out.put("collection", collection.name());
    out.put("collection_id", collection.id().toString());
    describeSchema(collection.schema(), out);
    if (collection.replicasWanted() == 0) {
      out.put("replicas", "auto");
    } else {
      out.put("replicas", collection.replicasWanted());
    }
    out.put("created_at_ms", collection.createdAtMs());
    out.put("epoch", map.epoch());
    ArrayNode shards = out.putArray("shards");
    for (ShardMap.Shard shard : collection.shards()) {
      describeShard(map, shard, shards.addObject());
    }
    out.put("rows", points.count(collection, Optional.empty(), Consistency.STRONG, call));
    ObjectNode extras =
        await("describe", parts.metadata().describeExtras(collection, call.context()), call);
    out.setAll(extras);
    return bytes(out);
  }

  private static void describeSchema(CollectionSchema schema, ObjectNode out) {
    out.put("id", lower(schema.idType()));
    out.put("schema_version", schema.version());
    ArrayNode fields = out.putArray("fields");
    for (Field field : schema.fields()) {
      ObjectNode one = fields.addObject().put("name", field.name());
      switch (field) {
        case VectorField vector ->
            one.put("type", lower(vector.type()))
                .put("dim", vector.dimension())
                .put("metric", lower(vector.metric()))
                .put("nullable", vector.nullable())
                .put("storage", lower(vector.storage()));
        case PayloadField payload -> one.put("type", payload.type().text());
      }
    }
  }

  private void describeShard(ShardMap map, ShardMap.Shard shard, ObjectNode out) {
    out.put("shard", shard.number());
    out.put("shard_id", shard.id().toString());
    out.putArray("slots").add(shard.slots().from()).add(shard.slots().to());
    ArrayNode replicas = out.putArray("replicas");
    shard.replicas().forEach(node -> replicas.add(nodeName(map, node)));
    leaders.leaderOf(shard.id()).ifPresent(node -> out.put("leader", nodeName(map, node)));
  }

  private static String nodeName(ShardMap map, NodeId id) {
    ShardMap.Node node = map.nodes().get(id);
    return node == null ? id.toString() : node.name();
  }

  private static <T> T await(String what, CompletableFuture<T> future, ActiveCall call)
      throws InterruptedException {
    try {
      return call.start(context -> future, late -> {}).await();
    } catch (TimeoutException e) {
      throw call.ended(what, e);
    } catch (SagittaException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new SagittaException(ErrorCode.INTERNAL, what + " failed", e);
    }
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static byte[] bytes(ObjectNode json) {
    return json.toString().getBytes(StandardCharsets.UTF_8);
  }
}
