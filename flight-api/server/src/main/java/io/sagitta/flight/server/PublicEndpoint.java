// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.ServerServiceDefinition;
import io.sagitta.flight.RequestHandler;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The public Flight port of a node: takes requests off the wire, hands them to a {@link
 * RequestHandler} and writes its answers back, within the limits of docs/contract.md, section 7.
 *
 * <p>Shutting down is {@link #drain}, then {@link #close}: first no new call is let in and writers
 * are asked to go elsewhere, then running calls get their time, then memory is checked for leaks.
 */
public final class PublicEndpoint implements AutoCloseable {
  /** What a call that was ended may take to notice. */
  static final long LAST_TASKS_MS = 5_000;

  private final FlightPort port;
  private final PutService puts;
  private final RunningTasks tasks;
  private final BufferAllocator allocator;

  private PublicEndpoint(
      FlightPort port, PutService puts, RunningTasks tasks, BufferAllocator allocator) {
    this.port = port;
    this.puts = puts;
    this.tasks = tasks;
    this.allocator = allocator;
  }

  /**
   * Binds the port and serves.
   *
   * @param parent messages come from a child of it with the port's own limit; it must be of the
   *     same root as the allocators of the handler's answers
   * @param virtualThreads one thread a task, such as {@code newVirtualThreadPerTaskExecutor}; stays
   *     the caller's to close, after this endpoint
   */
  public static PublicEndpoint start(
      PortConfig config,
      RequestHandler handler,
      Authenticator authenticator,
      BufferAllocator parent,
      ExecutorService virtualThreads) {
    BufferAllocator allocator =
        parent.newChildAllocator("flight-public", 0, config.memoryBytesMax());
    try {
      RunningTasks tasks = new RunningTasks(virtualThreads);
      PutService puts = new PutService(handler, allocator, tasks);
      ServerServiceDefinition flight =
          FlightMethods.of(
              allocator, new PublicProducer(handler, allocator, config, tasks), virtualThreads);
      FlightPort port =
          FlightPort.start(config, new CallGate(authenticator), tasks, List.of(puts.over(flight)));
      return new PublicEndpoint(port, puts, tasks, allocator);
    } catch (RuntimeException e) {
      allocator.close();
      throw e;
    }
  }

  /** The port bound. */
  public int port() {
    return port.port();
  }

  /** Bytes of Arrow memory that messages take now. */
  public long memoryBytes() {
    return allocator.getAllocatedMemory();
  }

  /** Uploads that are open. */
  public int putStreams() {
    return puts.streams();
  }

  List<ServerServiceDefinition> services() {
    return port.services();
  }

  /**
   * Lets no new call in and asks every writer to open its stream elsewhere; running calls go on.
   */
  public void drain() {
    port.drain();
    puts.rotate();
  }

  /** Breaks all connections at once, as a crash would; for tests of what clients make of it. */
  void kill() throws InterruptedException {
    port.kill();
  }

  /**
   * Ends what still runs after the drain time and gives memory back.
   *
   * @throws IllegalStateException where some of it leaked
   */
  @Override
  public void close() throws InterruptedException {
    drain();
    port.close();
    tasks.awaitIdle(LAST_TASKS_MS);
    allocator.close();
  }
}
