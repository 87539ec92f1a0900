// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.flight.internal.CallContext;
import io.sagitta.flight.internal.InternalHandler;
import io.sagitta.flight.internal.SentCheckpoint;
import io.sagitta.model.NodeId;
import io.sagitta.model.ReadStamp;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardRead;
import io.sagitta.model.ShardWrite;
import io.sagitta.model.WriteOutcome;
import io.sagitta.shard.ReadResult;
import io.sagitta.shard.Shard;
import io.sagitta.shard.ShardView;
import io.sagitta.shard.StopSignal;
import io.sagitta.shard.log.ShardEntries;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.arrow.memory.BufferAllocator;

/** One shard without Raft, for {@link WarmUp}: entries are applied as they come. */
final class ScratchShard implements InternalHandler {
  private final Shard shard;
  private final Executor searchPool;
  private final BufferAllocator answers;
  private long index; // under this

  ScratchShard(Shard shard, Executor searchPool, BufferAllocator answers) {
    this.shard = shard;
    this.searchPool = searchPool;
    this.answers = answers;
  }

  synchronized WriteOutcome apply(ByteBuffer entry) {
    try {
      return shard.apply(1, index++, entry);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public CompletableFuture<WriteOutcome> write(ShardWrite write, CallContext call) {
    if (write instanceof ShardWrite.Rows rows) {
      return CompletableFuture.completedFuture(apply(ShardEntries.rows(rows, 0)));
    }
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<ShardAnswer> read(ShardRead read, CallContext call) {
    return CompletableFuture.supplyAsync(() -> answer(read), searchPool);
  }

  private ShardAnswer answer(ShardRead read) {
    try (ShardView view = shard.view()) {
      ReadResult result =
          switch (read) {
            case ShardRead.Search search -> view.search(search, answers, StopSignal.NEVER);
            case ShardRead.Get get -> view.get(get, answers, StopSignal.NEVER);
            case ShardRead.Scan scan -> view.scan(scan, answers, StopSignal.NEVER);
            case ShardRead.Count count -> view.count(count, answers, StopSignal.NEVER);
          };
      return new ShardAnswer(
          new ReadStamp(
              read.shard(), view.index(), "n1", true, 0, 0, 0, 1, 0, 1, result.stats().more(), ""),
          result.rows());
    }
  }

  @Override
  public Map<UUID, Long> terms(List<UUID> groups) {
    return Map.of();
  }

  @Override
  public CompletableFuture<Long> leaderBarrier(UUID group, long timeoutMs) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<byte[]> metadata(byte[] request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<byte[]> placement(byte[] request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Void> prefetchCheckpoint(
      UUID group, byte[] manifest, NodeId source, String sourceHost, int sourcePort) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<SentCheckpoint> sendCheckpoint(UUID group, long minIndex, NodeId to) {
    throw new UnsupportedOperationException();
  }

  @Override
  public InputStream openFile(ShardId id, String fileId, OptionalLong offset) {
    throw new UnsupportedOperationException();
  }
}
