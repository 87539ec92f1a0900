// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.RequestHandler;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ReadFanout;
import io.sagitta.router.fanout.ShardReader;
import io.sagitta.router.fanout.ShardWriter;
import io.sagitta.router.routing.LeaderCache;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.routing.ReplicaChoice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Answers every request by asking the shards it concerns, wherever they are. Any node can answer
 * any request; nothing is kept between requests but caches.
 *
 * <p>Each request runs on a virtual thread of its own and may wait there; the caller's thread only
 * hands over. The verbs live in a class each; here they are admitted, given a deadline and run.
 */
public final class Router implements RequestHandler {
  private final RouterParts parts;
  private final Executor workers;
  private final Admission admission;
  private final Collections collections;
  private final Searches searches;
  private final Points points;
  private final Scans scans;
  private final Puts puts;
  private final FilterWrites filterWrites;

  public Router(RouterOptions options, RouterParts parts) {
    this.parts = parts;
    this.workers = parts.workers();
    MapCache maps = new MapCache(parts.maps());
    LeaderCache leaders = new LeaderCache(parts.leaders());
    ReplicaChoice choice = new ReplicaChoice(parts.self(), leaders, options.strongOnFollowers());
    ShardReader reader = new ShardReader(options, maps, leaders, choice, parts.doors());
    ReadFanout fanout = new ReadFanout(reader, workers);
    ShardWriter writer = new ShardWriter(options, maps, leaders, choice, parts.doors());
    this.admission = new Admission(options);
    this.points = new Points(options, parts, maps, fanout);
    this.collections = new Collections(parts, maps, leaders, choice, points);
    this.searches = new Searches(options, parts, maps, fanout);
    this.scans = new Scans(options, parts, maps, reader);
    this.puts = new Puts(options, parts, maps, collections, writer, admission);
    this.filterWrites = new FilterWrites(options, parts, maps, writer);
  }

  @Override
  public CompletableFuture<RowsAnswer> search(Command.Search search, Call call) {
    return run(call, admission::read, active -> searches.search(search, active));
  }

  @Override
  public CompletableFuture<RowsAnswer> get(Command.Get get, Call call) {
    return run(call, admission::read, active -> points.get(get, active));
  }

  @Override
  public CompletableFuture<String> scan(Command.Scan scan, Call call, ScanSink sink) {
    return run(call, admission::scan, active -> scans.scan(scan, sink, active));
  }

  @Override
  public CompletableFuture<ScanPlan> planScan(Command.Scan scan, Call call) {
    return run(call, admission::read, active -> collections.planScan(scan, active));
  }

  @Override
  public CompletableFuture<PutSession> put(
      Command.Put put, Schema sent, DictionaryProvider dictionaries, Call call) {
    return run(call, admission::read, active -> puts.open(put, sent, dictionaries, active(call)));
  }

  @Override
  public CompletableFuture<byte[]> act(Command command, Call call) {
    return run(call, admission::read, active -> act(command, active));
  }

  private byte[] act(Command command, ActiveCall call) throws Exception {
    return switch (command) {
      case Command.Create create -> collections.create(create.spec(), call);
      case Command.Drop drop -> collections.drop(drop.collection(), call);
      case Command.Describe describe -> collections.describe(describe.collection(), call);
      case Command.Verify verify -> collections.verify(verify.collection(), call);
      case Command.Status ignored -> collections.status(call);
      case Command.Count count -> points.count(count, call);
      case Command.Delete delete -> filterWrites.delete(delete, call);
      case Command.SetPayload set -> filterWrites.set(set, call);
      case Command.UnsetPayload unset -> filterWrites.unset(unset, call);
      case Command.OpenWriter open -> puts.openWriter(open);
      case Command.Search ignored -> throw noAction(command);
      case Command.Get ignored -> throw noAction(command);
      case Command.Scan ignored -> throw noAction(command);
      case Command.Put ignored -> throw noAction(command);
    };
  }

  private static SagittaException noAction(Command command) {
    return SagittaException.invalid("'" + command.verb() + "' is not an action");
  }

  @Override
  public CompletableFuture<List<CollectionSummary>> collections(Call call) {
    return run(call, admission::read, collections::list);
  }

  @Override
  public CompletableFuture<Schema> schema(String collection, Call call) {
    return run(call, admission::read, active -> collections.schema(collection, active));
  }

  // ---- running

  private interface Admit {
    Admission.Admitted get();
  }

  private interface Work<T> {
    T run(ActiveCall call) throws Exception;
  }

  private ActiveCall active(Call call) {
    ActiveCall active = new ActiveCall(call.principal(), call.deadlineNanos(), parts.nanoTime());
    call.onCancel().accept(active::cancel);
    return active;
  }

  private <T> CompletableFuture<T> run(Call call, Admit admit, Work<T> work) {
    Admission.Admitted admitted;
    try {
      admitted = admit.get();
    } catch (SagittaException e) {
      return CompletableFuture.failedFuture(e);
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      workers.execute(
          () -> {
            try (admitted) {
              answer.complete(work.run(active(call)));
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
              answer.completeExceptionally(
                  new SagittaException(ErrorCode.UNAVAILABLE, "the node stops", e));
            } catch (Throwable e) {
              answer.completeExceptionally(e);
            }
          });
    } catch (RuntimeException e) {
      admitted.close();
      return CompletableFuture.failedFuture(
          new SagittaException(ErrorCode.UNAVAILABLE, "the node stops", e));
    }
    return answer;
  }
}
