// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.internal.ShardDoor.ShardAnswer;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ReadFanout;
import io.sagitta.router.merge.GroupMerger;
import io.sagitta.router.plan.SearchPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * The answers of shards to a grouped search, until they hold all that matters: a shard that may
 * have a row of a group which it did not name is asked again, for that group too. Usually no shard
 * is, where groups have one row; and hardly one twice.
 */
final class GroupedAnswers implements AutoCloseable {
  /** Questions to one shard; more are needed only where other groups become best in between. */
  private static final int ROUNDS_MAX = 4;

  private static final long RETRY_MS = 100;

  private final SearchPlan plan;
  private final List<Part> parts = new ArrayList<>();
  private final List<ShardMap.Shard> missing;

  private record Part(ShardMap.Shard shard, ShardAnswer answer, List<long[]> also) {}

  /** Takes over the first answers. */
  GroupedAnswers(SearchPlan plan, ReadFanout.Answers first) {
    this.plan = plan;
    this.missing = new ArrayList<>(first.missing());
    for (int i = 0; i < first.shards().size(); i++) {
      parts.add(new Part(first.shards().get(i), first.answers().get(i), List.of()));
    }
  }

  /**
   * Asks on until all that matters is there, and merges. The caller closes the rows.
   *
   * @throws SagittaException UNAVAILABLE where the best groups change faster than they are read
   */
  VectorSchemaRoot complete(
      ReadFanout fanout, ActiveCall call, long bytesMax, BufferAllocator allocator)
      throws InterruptedException {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      GroupMerger merger = merger();
      List<Optional<List<long[]>>> open = merger.open();
      if (open.stream().allMatch(Optional::isEmpty)) {
        return merger.rows(bytesMax, allocator);
      }
      ask(open, fanout, call);
    }
    throw SagittaException.unavailable(
        "the best groups of field '"
            + plan.grouping().orElseThrow().field()
            + "' changed while they were read",
        RETRY_MS);
  }

  private GroupMerger merger() {
    return new GroupMerger(
        new GroupMerger.Wanted(
            plan.collection().schema().idType(),
            plan.field().metric().higherIsBetter(),
            plan.queries().orElseThrow().count(),
            plan.asked().offset(),
            plan.asked().k(),
            plan.grouping().orElseThrow().size(),
            plan.grouping().orElseThrow().field()),
        parts.stream().map(part -> new GroupMerger.Answer(part.answer.rows(), part.also)).toList());
  }

  private void ask(List<Optional<List<long[]>>> open, ReadFanout fanout, ActiveCall call)
      throws InterruptedException {
    List<Part> asked = new ArrayList<>();
    List<ReadFanout.Part> reads = new ArrayList<>();
    for (int i = 0; i < open.size(); i++) {
      if (open.get(i).isPresent()) {
        Part part = parts.get(i);
        asked.add(new Part(part.shard, part.answer, open.get(i).get()));
        reads.add(new ReadFanout.Part(part.shard, plan.read(part.shard, open.get(i).get())));
      }
    }
    boolean mayMiss = plan.asked().partial() && asked.size() < parts.size();
    ReadFanout.Answers answers;
    try {
      answers = fanout.read(plan.collection(), reads, plan.asked().partial(), call);
    } catch (SagittaException e) {
      if (mayMiss
          && (e.code() == ErrorCode.UNAVAILABLE || e.code() == ErrorCode.DEADLINE_EXCEEDED)) {
        asked.forEach(part -> drop(part.shard));
        return;
      }
      throw e;
    }
    for (int i = 0; i < answers.shards().size(); i++) {
      replace(answers.shards().get(i), answers.answers().get(i), asked);
    }
    answers.missing().forEach(this::drop);
  }

  /** A shard's new answer stands in the place of its former one. */
  private void replace(ShardMap.Shard shard, ShardAnswer answer, List<Part> asked) {
    List<long[]> also =
        asked.stream().filter(part -> part.shard.equals(shard)).findFirst().orElseThrow().also;
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).shard.equals(shard)) {
        parts.get(i).answer.close();
        parts.set(i, new Part(shard, answer, also));
      }
    }
  }

  private void drop(ShardMap.Shard shard) {
    parts.stream().filter(part -> part.shard.equals(shard)).forEach(part -> part.answer.close());
    parts.removeIf(part -> part.shard.equals(shard));
    missing.add(shard);
  }

  /** Whose answers count. */
  List<ShardMap.Shard> shards() {
    return parts.stream().map(Part::shard).toList();
  }

  List<ShardAnswer> answers() {
    return parts.stream().map(Part::answer).toList();
  }

  List<ShardMap.Shard> missing() {
    return missing;
  }

  @Override
  public void close() {
    parts.forEach(part -> part.answer.close());
  }
}
