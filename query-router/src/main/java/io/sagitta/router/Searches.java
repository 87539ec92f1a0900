// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.RequestHandler.RowsAnswer;
import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.HashSlot;
import io.sagitta.model.Names;
import io.sagitta.model.PointId;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardRead;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ReadFanout;
import io.sagitta.router.merge.Certificates;
import io.sagitta.router.merge.TopKMerger;
import io.sagitta.router.plan.SearchPlan;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.rows.StoredVectors;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Search: plan, ask every shard, merge, certify. */
final class Searches {
  private final RouterOptions options;
  private final RouterParts parts;
  private final MapCache maps;
  private final ReadFanout fanout;

  Searches(RouterOptions options, RouterParts parts, MapCache maps, ReadFanout fanout) {
    this.options = options;
    this.parts = parts;
    this.maps = maps;
    this.fanout = fanout;
  }

  RowsAnswer search(Command.Search search, ActiveCall caller) throws InterruptedException {
    long started = parts.nanoTime().getAsLong();
    ActiveCall call =
        search.timeoutMs().isPresent()
            ? caller.part(TimeUnit.MILLISECONDS.toNanos(search.timeoutMs().getAsLong()))
            : caller;
    return maps.with(
        search.collection(), call, collection -> search(collection, search, started, call));
  }

  private RowsAnswer search(
      ShardMap.Collection collection, Command.Search search, long started, ActiveCall call)
      throws InterruptedException {
    SearchPlan plan = SearchPlan.of(collection, search);
    if (plan.like().isPresent()) {
      plan = plan.with(vectorOf(plan, plan.like().get(), call));
    }
    ReadFanout.Answers answers =
        fanout.read(plan.collection(), parts(plan), search.partial(), call);
    if (plan.grouping().isPresent()) {
      return grouped(plan, answers, started, call);
    }
    List<ReadStamp> stamps = answers.answers().stream().map(ShardAnswer::stamp).toList();
    VectorSchemaRoot rows = merge(plan, answers);
    return certified(plan, rows, answers.shards(), stamps, answers.missing(), started);
  }

  private RowsAnswer grouped(
      SearchPlan plan, ReadFanout.Answers first, long started, ActiveCall call)
      throws InterruptedException {
    try (GroupedAnswers answers = new GroupedAnswers(plan, first)) {
      VectorSchemaRoot rows =
          answers.complete(fanout, call, options.answerBytesMax(), parts.allocator());
      List<ReadStamp> stamps = answers.answers().stream().map(ShardAnswer::stamp).toList();
      return certified(plan, rows, answers.shards(), stamps, answers.missing(), started);
    }
  }

  private RowsAnswer certified(
      SearchPlan plan,
      VectorSchemaRoot rows,
      List<ShardMap.Shard> shards,
      List<ReadStamp> stamps,
      List<ShardMap.Shard> missing,
      long started) {
    long tookUs = TimeUnit.NANOSECONDS.toMicros(parts.nanoTime().getAsLong() - started);
    return new RowsAnswer(
        rows,
        Certificates.of(shards, stamps, missing, plan.freshness().text(), tookUs).toJson(),
        plan.asked().explain() ? Certificates.explain(shards, stamps) : "");
  }

  private static List<ReadFanout.Part> parts(SearchPlan plan) {
    return plan.collection().shards().stream()
        .map(shard -> new ReadFanout.Part(shard, plan.read(shard)))
        .toList();
  }

  private VectorSchemaRoot merge(SearchPlan plan, ReadFanout.Answers answers) {
    TopKMerger merger =
        new TopKMerger(
            plan.collection().schema().idType(),
            plan.field().metric().higherIsBetter(),
            plan.queries().orElseThrow().count(),
            plan.asked().offset(),
            plan.asked().k(),
            options.answerBytesMax());
    return merger.merge(
        answers.answers().stream().map(ShardAnswer::rows).toList(), parts.allocator());
  }

  /** The vector of the point named by {@code like}, as fresh as the search itself. */
  private float[] vectorOf(SearchPlan plan, PointId id, ActiveCall call)
      throws InterruptedException {
    ShardMap.Shard shard = plan.collection().shardOf(HashSlot.of(id).value());
    ShardRead.Get get =
        new ShardRead.Get(
            shard.id(),
            plan.freshness().mode(shard.id()),
            List.of(id),
            List.of(plan.field().name()));
    try (ReadFanout.Answers answers =
        fanout.read(plan.collection(), List.of(new ReadFanout.Part(shard, get)), false, call)) {
      VectorSchemaRoot rows = answers.answers().getFirst().rows();
      if (rows.getRowCount() == 0) {
        throw SagittaException.notFound("'like': no point with id " + Names.quote(id.toString()));
      }
      FieldVector vectors = rows.getVector(plan.field().name());
      if (vectors.isNull(0)) {
        throw SagittaException.invalid(
            "'like': the point with id %s has no vector in field %s"
                .formatted(Names.quote(id.toString()), Names.quote(plan.field().name())));
      }
      return StoredVectors.components(plan.field(), vectors, 0);
    }
  }
}
