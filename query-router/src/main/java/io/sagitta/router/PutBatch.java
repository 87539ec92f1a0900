// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.PutAck;
import io.sagitta.flight.RequestHandler.PutReply;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.Names;
import io.sagitta.model.RowBatch;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriteOutcome;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ShardWriter;
import io.sagitta.router.plan.PutPlan;
import io.sagitta.router.plan.PutPlan.Piece;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One batch on its way: all its entries are sent at once, then their outcomes gathered. What one
 * shard answered is told whatever became of the others.
 */
final class PutBatch {
  private static final String APPLIED = "applied";
  private static final String REPLAYED = "replayed";

  private final ShardWriter writer;
  private final PutPlan plan;
  private final OptionalLong seq;
  private final ActiveCall call;

  /** Per piece, in order: sent, or the failure to even draft it. */
  private final List<Sending> sendings = new ArrayList<>();

  private record Sending(Piece piece, ShardWriter.Sent sent, SagittaException failure) {}

  PutBatch(ShardWriter writer, PutPlan plan, OptionalLong seq, ActiveCall call) {
    this.writer = writer;
    this.plan = plan;
    this.seq = seq;
    this.call = call;
  }

  /** Sends every entry once. Does not wait. */
  void send(ShardMap map) {
    for (Piece piece : plan.pieces()) {
      try {
        sendings.add(
            new Sending(
                piece,
                writer.send(
                    map,
                    plan.collection(),
                    piece.shard(),
                    (now, collection, shard) -> draft(piece, now, collection, shard),
                    call),
                null));
      } catch (SagittaException e) {
        sendings.add(new Sending(piece, null, e));
      }
    }
  }

  private ShardWrite draft(
      Piece piece, ShardMap map, ShardMap.Collection collection, ShardMap.Shard shard) {
    CollectionSchema schema = collection.schema();
    if (schema.version() != plan.collection().schema().version()) {
      checkStillFits(schema, piece.rows());
    }
    return new ShardWrite.Rows(
        shard.id(),
        map.epoch(),
        schema.version(),
        piece.key(),
        call.principal(),
        plan.mode(),
        piece.rows());
  }

  /**
   * Rows are named by field ids and encoded by the fields' types, which never change; so a newer
   * schema takes them as they are unless a field of theirs was dropped or a vector is missing now.
   */
  private void checkStillFits(CollectionSchema schema, RowBatch rows) {
    for (int column : rows.columns()) {
      if (column > 0 && schema.field(column).isEmpty()) {
        throw SagittaException.invalid("a field of the batch was dropped while it was on its way");
      }
    }
    boolean whole = plan.mode() == WriteMode.UPSERT || plan.mode() == WriteMode.INSERT;
    for (Field field : schema.fields()) {
      if (whole && !field.nullable() && !rows.columns().contains(field.fieldId())) {
        throw SagittaException.invalid(
            "column " + Names.quote(field.name()) + " is missing and not nullable");
      }
    }
  }

  /** Waits for all outcomes. */
  PutReply reply() throws InterruptedException {
    Map<Integer, ShardSum> byShard = new LinkedHashMap<>();
    List<PutAck.Reject> rejects = new ArrayList<>();
    Map<ShardId, Long> indexes = new HashMap<>();
    int rows = 0;
    for (Sending sending : sendings) {
      ShardSum sum =
          byShard.computeIfAbsent(sending.piece.shard().number(), number -> new ShardSum());
      switch (result(sending)) {
        case ShardWriter.Result.Applied applied -> {
          WriteOutcome.Applied outcome = applied.outcome();
          rows += outcome.rows();
          sum.applied(outcome);
          indexes.merge(sending.piece.shard().id(), outcome.index(), Math::max);
          for (WriteOutcome.RowReject reject : outcome.rejects()) {
            rejects.add(
                new PutAck.Reject(
                    sending.piece.sentRows()[reject.row()], reject.code(), reject.message()));
          }
        }
        case ShardWriter.Result.Failed failed -> sum.failed(failed.error());
      }
    }
    rejects.sort(Comparator.comparingInt(PutAck.Reject::row));
    List<PutAck.ShardAck> shards = new ArrayList<>();
    byShard.forEach((number, sum) -> shards.add(sum.ack(number)));
    String token = indexes.isEmpty() ? "" : new CommitToken(indexes).text();
    return new PutReply(
        new PutAck.Done(seq, rows, shards, rejects, token).toJson(), failure(byShard));
  }

  private static ShardWriter.Result result(Sending sending) throws InterruptedException {
    return sending.sent == null
        ? new ShardWriter.Result.Failed(sending.failure)
        : sending.sent.result();
  }

  /** The error the stream ends with: an unknown outcome above all, else the first failure. */
  private Optional<SagittaException> failure(Map<Integer, ShardSum> byShard) {
    SagittaException worst = null;
    List<Integer> applied = new ArrayList<>();
    for (Map.Entry<Integer, ShardSum> shard : byShard.entrySet()) {
      SagittaException failure = shard.getValue().failure;
      if (failure == null) {
        applied.add(shard.getKey());
      } else if (worst == null
          || (failure.code() == ErrorCode.OUTCOME_UNKNOWN
              && worst.code() != ErrorCode.OUTCOME_UNKNOWN)) {
        worst = failure;
      }
    }
    if (worst == null) {
      return Optional.empty();
    }
    String batch = seq.isPresent() ? "batch with seq " + seq.getAsLong() + ": " : "";
    String rest = applied.isEmpty() ? "" : "; applied on shards " + applied;
    return Optional.of(
        new SagittaException(
            worst.code(),
            batch + worst.getMessage() + rest,
            worst.retryAfterMs().orElse(-1),
            worst));
  }

  /** What a shard did with all its pieces. */
  private static final class ShardSum {
    private boolean replayed = true;
    private long index = -1;
    private SagittaException failure;

    private void applied(WriteOutcome.Applied outcome) {
      replayed &= outcome.replayed();
      index = Math.max(index, outcome.index());
    }

    private void failed(SagittaException error) {
      if (failure == null
          || (error.code() == ErrorCode.OUTCOME_UNKNOWN
              && failure.code() != ErrorCode.OUTCOME_UNKNOWN)) {
        failure = error;
      }
    }

    private PutAck.ShardAck ack(int number) {
      String outcome = failure != null ? failure.code().qualified() : replayed ? REPLAYED : APPLIED;
      return new PutAck.ShardAck(number, outcome, index);
    }
  }
}
