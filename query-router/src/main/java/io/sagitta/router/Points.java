// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.RequestHandler.RowsAnswer;
import io.sagitta.flight.RequestLimits;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.HashSlot;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ReadFanout;
import io.sagitta.router.merge.Certificates;
import io.sagitta.router.merge.RequestedOrder;
import io.sagitta.router.plan.AnswerFields;
import io.sagitta.router.plan.Filters;
import io.sagitta.router.plan.Freshness;
import io.sagitta.router.plan.PointIds;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.routing.SlotTable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Get by ids, and count. */
final class Points {
  private final RouterOptions options;
  private final RouterParts parts;
  private final MapCache maps;
  private final ReadFanout fanout;

  Points(RouterOptions options, RouterParts parts, MapCache maps, ReadFanout fanout) {
    this.options = options;
    this.parts = parts;
    this.maps = maps;
    this.fanout = fanout;
  }

  RowsAnswer get(Command.Get get, ActiveCall call) throws InterruptedException {
    long started = parts.nanoTime().getAsLong();
    if (get.ids().size() > RequestLimits.IDS_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT, get.ids().size() + " ids, expected at most " + RequestLimits.IDS_MAX);
    }
    return maps.with(get.collection(), call, collection -> get(collection, get, started, call));
  }

  private RowsAnswer get(
      ShardMap.Collection collection, Command.Get get, long started, ActiveCall call)
      throws InterruptedException {
    List<PointId> ids = PointIds.of(collection.schema().idType(), get.ids());
    List<String> fields = AnswerFields.of(collection.schema(), get.fields());
    Freshness freshness = Freshness.of(get.consistency());
    List<ReadFanout.Part> reads = new ArrayList<>();
    byShard(collection, ids)
        .forEach(
            (place, own) -> {
              ShardMap.Shard shard = collection.shards().get(place);
              reads.add(
                  new ReadFanout.Part(
                      shard,
                      new ShardRead.Get(
                          shard.id(), freshness.mode(shard.id()), List.copyOf(own), fields)));
            });
    ReadFanout.Answers answers = fanout.read(collection, reads, false, call);
    List<ReadStamp> stamps = answers.answers().stream().map(ShardAnswer::stamp).toList();
    VectorSchemaRoot rows =
        RequestedOrder.sort(
            collection.schema().idType(),
            ids,
            answers.answers().stream().map(ShardAnswer::rows).toList(),
            options.answerBytesMax(),
            parts.allocator());
    long tookUs = TimeUnit.NANOSECONDS.toMicros(parts.nanoTime().getAsLong() - started);
    return new RowsAnswer(
        rows,
        Certificates.of(answers.shards(), stamps, List.of(), freshness.text(), tookUs).toJson(),
        "");
  }

  /** Each id once, at the place of its shard; no ids are asked of the first, for its columns. */
  private static Map<Integer, LinkedHashSet<PointId>> byShard(
      ShardMap.Collection collection, List<PointId> ids) {
    SlotTable slots = new SlotTable(collection);
    Map<Integer, LinkedHashSet<PointId>> byShard = new TreeMap<>();
    for (PointId id : ids) {
      byShard
          .computeIfAbsent(slots.place(HashSlot.of(id).value()), place -> new LinkedHashSet<>())
          .add(id);
    }
    if (byShard.isEmpty()) {
      byShard.put(0, new LinkedHashSet<>());
    }
    return byShard;
  }

  byte[] count(Command.Count count, ActiveCall call) throws InterruptedException {
    long sum =
        maps.with(
            count.collection(),
            call,
            collection -> count(collection, count.filter(), count.consistency(), call));
    return ("{\"count\": " + sum + "}").getBytes(StandardCharsets.UTF_8);
  }

  /** Points of a collection. */
  long count(
      ShardMap.Collection collection,
      Optional<FilterText> filter,
      Consistency consistency,
      ActiveCall call)
      throws InterruptedException {
    Filters.check(collection.schema(), filter);
    Freshness freshness = Freshness.of(consistency);
    List<ReadFanout.Part> reads =
        collection.shards().stream()
            .map(
                shard ->
                    new ReadFanout.Part(
                        shard, new ShardRead.Count(shard.id(), freshness.mode(shard.id()), filter)))
            .toList();
    try (ReadFanout.Answers answers = fanout.read(collection, reads, false, call)) {
      long sum = 0;
      for (ShardAnswer answer : answers.answers()) {
        sum += ((BigIntVector) answer.rows().getVector("count")).get(0);
      }
      return sum;
    }
  }
}
