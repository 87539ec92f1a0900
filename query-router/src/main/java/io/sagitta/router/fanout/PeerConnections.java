// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.fanout;

import io.sagitta.flight.internal.ShardDoor;
import io.sagitta.model.SagittaException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Connections to other nodes' internal ports, by address, opened at first use and kept. The router
 * reaches other nodes' shards through {@link #door}, the node makes its own calls through {@link
 * #peer}.
 *
 * <p>Close it after all calls have ended and all answers are closed, before the allocator.
 */
public final class PeerConnections implements AutoCloseable {
  private final PeerChannels channels;
  private final BufferAllocator allocator;
  private final Executor workers;
  private final LongSupplier nanoTime;
  private final long answerBytesMax;
  private final OwnVotes votes;
  private final CancelWatch watch;
  private final Map<Address, Peer> peers = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private record Address(String host, int port) {}

  /**
   * No connection yet.
   *
   * @param allocator memory of answers
   * @param workers runs each task on a virtual thread of its own
   * @param timer looks every few milliseconds for callers that have gone; not shut down here
   * @param answerBytesMax bytes of one answer accepted of a peer
   * @param votes what strong reads take along
   */
  public PeerConnections(
      PeerChannels channels,
      BufferAllocator allocator,
      Executor workers,
      ScheduledExecutorService timer,
      LongSupplier nanoTime,
      long answerBytesMax,
      OwnVotes votes) {
    this.channels = channels;
    this.allocator = allocator;
    this.workers = workers;
    this.nanoTime = nanoTime;
    this.answerBytesMax = answerBytesMax;
    this.votes = votes;
    this.watch = new CancelWatch(timer);
  }

  /** The shards of the node at this internal address. */
  public ShardDoor door(String host, int internalPort) {
    return peer(host, internalPort).door();
  }

  /** The node at this internal address. */
  public Peer peer(String host, int internalPort) {
    if (closed) {
      throw SagittaException.unavailable("the node stops", 0);
    }
    return peers.computeIfAbsent(
        new Address(host, internalPort),
        address ->
            new Peer(
                host + ":" + internalPort,
                () -> channels.open(address.host, address.port),
                allocator,
                workers,
                watch,
                nanoTime,
                answerBytesMax,
                votes));
  }

  @Override
  public void close() {
    closed = true;
    watch.close();
    peers.values().forEach(Peer::close);
    peers.clear();
  }
}
