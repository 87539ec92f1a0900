// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/** Another node: remembers what it was asked and answers as told. */
final class FakePeer implements InternalHandler {
  final List<ShardWrite> writes = new ArrayList<>();
  final List<ShardRead> reads = new ArrayList<>();
  final List<CallContext> contexts = new ArrayList<>();
  final Map<String, byte[]> files = new HashMap<>();
  Supplier<RuntimeException> failure = () -> null;
  int answerRows = 3;

  private final BufferAllocator allocator;

  FakePeer(BufferAllocator allocator) {
    this.allocator = allocator;
  }

  private <T> CompletableFuture<T> answered(Supplier<T> answer) {
    RuntimeException failed = failure.get();
    return failed != null
        ? CompletableFuture.failedFuture(failed)
        : CompletableFuture.completedFuture(answer.get());
  }

  @Override
  public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
    writes.add(write);
    contexts.add(call);
    return answered(() -> new WriteOutcome.Applied(17, 2, List.of(), false));
  }

  @Override
  public CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call) {
    reads.add(read);
    contexts.add(call);
    return answered(
        () ->
            new ShardAnswer(
                new ReadStamp(read.shard(), 9, "n2", true, 0, 0, 0, 1, 5, 1.0, false, ""), rows()));
  }

  private VectorSchemaRoot rows() {
    VectorSchemaRoot root =
        VectorSchemaRoot.create(
            new Schema(
                List.of(
                    new Field(
                        "id", FieldType.notNullable(new ArrowType.Int(64, true)), List.of()))),
            allocator);
    BigIntVector ids = (BigIntVector) root.getVector(0);
    ids.allocateNew(answerRows);
    for (int i = 0; i < answerRows; i++) {
      ids.set(i, i);
    }
    root.setRowCount(answerRows);
    return root;
  }

  @Override
  public Map<UUID, Long> terms(List<UUID> groups) {
    return Map.of(groups.getFirst(), 4L);
  }

  @Override
  public CompletableFuture<Long> leaderBarrier(UUID group, long timeoutMs) {
    return answered(() -> timeoutMs + 1);
  }

  @Override
  public CompletableFuture<byte[]> metadata(byte[] request) {
    return answered(request::clone);
  }

  @Override
  public CompletableFuture<byte[]> placement(byte[] request) {
    return answered(request::clone);
  }

  @Override
  public CompletableFuture<Void> prefetchCheckpoint(
      UUID group, byte[] manifest, NodeId source, String sourceHost, int sourcePort) {
    return answered(() -> null);
  }

  @Override
  public CompletableFuture<SentCheckpoint> sendCheckpoint(UUID group, long minIndex, NodeId to) {
    return answered(
        () -> new SentCheckpoint(3, minIndex + 1, new byte[] {1, 2}, new byte[] {4, 5, 6}));
  }

  @Override
  public InputStream openFile(ShardId shard, String fileId, OptionalLong offset)
      throws IOException {
    byte[] bytes = files.get(fileId);
    if (bytes == null) {
      throw new FileNotFoundException(fileId);
    }
    InputStream in = new ByteArrayInputStream(bytes);
    in.skipNBytes(offset.orElse(0));
    return in;
  }
}
