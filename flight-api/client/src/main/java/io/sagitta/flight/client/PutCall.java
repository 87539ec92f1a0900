// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import io.sagitta.flight.PutAck;
import io.sagitta.flight.client.Connections.Connection;
import java.util.function.Consumer;
import org.apache.arrow.flight.impl.Flight.PutResult;

/**
 * One DoPut stream, as events. Not Flight's own client call: that one spins while the transport has
 * no room. Sending asks {@link #isReady} first, and {@link Event.Ready} says when it has turned
 * true.
 */
final class PutCall extends ClientCall.Listener<PutResult> {
  private static final MethodDescriptor<OutgoingFrame, PutResult> METHOD =
      MethodDescriptor.<OutgoingFrame, PutResult>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName("arrow.flight.protocol.FlightService/DoPut")
          .setRequestMarshaller(OutgoingFrame.MARSHALLER)
          .setResponseMarshaller(ProtoUtils.marshaller(PutResult.getDefaultInstance()))
          .build();

  private static final int ACKS_AHEAD = 64;

  /** What happened on a stream. Told on the transport's thread. */
  sealed interface Event {
    /** The transport has room. */
    record Ready(PutCall call) implements Event {}

    /** The server answered. */
    record Acked(PutCall call, PutAck ack) implements Event {}

    /** The stream has ended; nothing more comes from it. */
    record Closed(PutCall call, Status status, Metadata trailers) implements Event {}
  }

  private final Connection connection;
  private final ClientCall<OutgoingFrame, PutResult> call;
  private final Consumer<Event> events;

  private PutCall(Connection connection, Consumer<Event> events) {
    this.connection = connection;
    this.events = events;
    this.call = connection.channel().newCall(METHOD, CallOptions.DEFAULT);
  }

  /** Opens a stream and sends its schema. */
  static PutCall open(Connection connection, OutgoingFrame schema, Consumer<Event> events) {
    PutCall opened = new PutCall(connection, events);
    opened.call.start(opened, new Metadata());
    opened.call.request(ACKS_AHEAD);
    opened.call.sendMessage(schema);
    return opened;
  }

  Connection connection() {
    return connection;
  }

  boolean isReady() {
    return call.isReady();
  }

  void send(OutgoingFrame frame) {
    call.sendMessage(frame);
  }

  /** Says that no batch follows. */
  void halfClose() {
    call.halfClose();
  }

  void cancel(String reason) {
    call.cancel(reason, null);
  }

  @Override
  public void onReady() {
    events.accept(new Event.Ready(this));
  }

  @Override
  public void onMessage(PutResult result) {
    call.request(1);
    events.accept(new Event.Acked(this, PutAck.parse(result.getAppMetadata().toByteArray())));
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    events.accept(new Event.Closed(this, status, trailers));
  }
}
