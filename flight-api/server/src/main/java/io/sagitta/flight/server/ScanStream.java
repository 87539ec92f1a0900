// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.RequestHandler.ScanSink;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.flight.FlightProducer.ServerStreamListener;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Sends a scan as it comes, at the reader's pace. The last batch has no rows and carries the cursor
 * as {@code {"cursor": ..}} in its app_metadata: only at the end is known where the scan stopped,
 * and a batch held back for it would hold back its rows.
 */
final class ScanStream implements ScanSink {
  private final ServerStreamListener listener;
  private final SlowReader reader;
  private final BufferAllocator allocator;
  private final int messageBytesMax;
  private final long stallMs;

  // Null until started. One thread at a time, as the door promises.
  private BatchCutter cutter;

  ScanStream(
      ServerStreamListener listener,
      SlowReader reader,
      BufferAllocator allocator,
      int messageBytesMax,
      long stallMs) {
    this.listener = listener;
    this.reader = reader;
    this.allocator = allocator;
    this.messageBytesMax = messageBytesMax;
    this.stallMs = stallMs;
  }

  @Override
  public synchronized void start(Schema schema) {
    if (cutter != null) {
      throw new IllegalStateException("a scan started twice");
    }
    cutter = new BatchCutter(schema, messageBytesMax, allocator);
    listener.start(cutter.root());
  }

  @Override
  public synchronized void next(VectorSchemaRoot batch) throws InterruptedException {
    cutter.begin();
    while (cutter.cut(batch)) {
      reader.await(stallMs);
      listener.putNext();
    }
  }

  /** Ends the call with the cursor. */
  synchronized void complete(String cursor) {
    try (BatchCutter closing = cutter) {
      closing.root().clear();
      closing.root().setRowCount(0);
      listener.putNext(metadata(cursor));
    }
    // Last: whoever waits for the call's end may check memory.
    listener.completed();
  }

  /** Ends the call with what went wrong. */
  synchronized void fail(Throwable failure) {
    if (cutter != null) {
      cutter.close();
    }
    listener.error(FlightErrors.toFlight(BugLog.logged("scan", failure)));
  }

  /** The message takes the buffer. */
  private ArrowBuf metadata(String cursor) {
    String json = JsonNodeFactory.instance.objectNode().put("cursor", cursor).toString();
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    ArrowBuf buffer = allocator.buffer(bytes.length);
    buffer.writeBytes(bytes);
    return buffer;
  }
}
