// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.ServerServiceDefinition;
import io.sagitta.flight.internal.InternalHandler;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The internal port of a node: reads and checkpoint files over Flight, all else over the protobuf
 * service of {@code internal.proto}, on one gRPC server. Every failure carries what the handler
 * threw ({@link io.sagitta.flight.internal.Failures}).
 */
public final class InternalEndpoint implements AutoCloseable {
  private final FlightPort port;
  private final RunningTasks tasks;
  private final BufferAllocator allocator;

  private InternalEndpoint(FlightPort port, RunningTasks tasks, BufferAllocator allocator) {
    this.port = port;
    this.tasks = tasks;
    this.allocator = allocator;
  }

  /**
   * Binds the port and serves.
   *
   * @param parent as for {@link PublicEndpoint#start}
   * @param virtualThreads as for {@link PublicEndpoint#start}
   */
  public static InternalEndpoint start(
      PortConfig config,
      InternalHandler handler,
      Authenticator authenticator,
      BufferAllocator parent,
      ExecutorService virtualThreads) {
    BufferAllocator allocator =
        parent.newChildAllocator("flight-internal", 0, config.memoryBytesMax());
    try {
      RunningTasks tasks = new RunningTasks(virtualThreads);
      ServerServiceDefinition flight =
          FlightMethods.of(
              allocator, new InternalProducer(handler, allocator, tasks), virtualThreads);
      FlightPort port =
          FlightPort.start(
              config,
              new CallGate(authenticator),
              tasks,
              List.of(
                  FlightMethods.withoutUploads(flight),
                  new InternalService(handler, tasks).bindService()));
      return new InternalEndpoint(port, tasks, allocator);
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

  List<ServerServiceDefinition> services() {
    return port.services();
  }

  /** Lets no new call in; running calls go on. */
  public void drain() {
    port.drain();
  }

  /**
   * Ends what still runs after the drain time and gives memory back.
   *
   * @throws IllegalStateException where some of it leaked
   */
  @Override
  public void close() throws InterruptedException {
    port.close();
    tasks.awaitIdle(PublicEndpoint.LAST_TASKS_MS);
    allocator.close();
  }
}
