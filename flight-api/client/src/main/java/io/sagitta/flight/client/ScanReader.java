// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.flight.FlightErrors;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.util.Optional;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * A scan under way: one batch at a time, at the caller's pace. Close it, at any time.
 *
 * <pre>{@code
 * try (ScanReader scan = client.scan(command)) {
 *   while (scan.next()) {
 *     Answer.rows(scan.batch()).forEach(...);
 *   }
 * }
 * }</pre>
 */
public final class ScanReader implements AutoCloseable {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final FlightStream stream;
  private Optional<String> cursor = Optional.empty();

  ScanReader(FlightStream stream) {
    this.stream = stream;
  }

  /** Moves to the next batch that has rows; false at the end. */
  public boolean next() {
    try {
      while (stream.next()) {
        readCursor();
        if (stream.getRoot().getRowCount() > 0) {
          return true;
        }
      }
      return false;
    } catch (RuntimeException e) {
      throw FlightErrors.fromCall(e, false);
    }
  }

  private void readCursor() {
    ArrowBuf metadata = stream.getLatestMetadata();
    if (metadata == null || metadata.readableBytes() == 0) {
      return;
    }
    byte[] json = new byte[Math.toIntExact(metadata.readableBytes())];
    metadata.getBytes(metadata.readerIndex(), json);
    try {
      JsonNode node = MAPPER.readTree(json);
      cursor = Optional.ofNullable(node.path("cursor").textValue()).filter(c -> !c.isEmpty());
    } catch (IOException e) {
      throw new SagittaException(ErrorCode.INTERNAL, "a scan's cursor is no JSON", e);
    }
  }

  /** The batch at hand, overwritten by the next. */
  public VectorSchemaRoot batch() {
    return stream.getRoot();
  }

  /**
   * Where the scan stopped at its limit, for a later one to go on; known once {@link #next} has
   * been false, and empty where the scan came to its end.
   */
  public Optional<String> cursor() {
    return cursor;
  }

  @Override
  public void close() {
    try {
      stream.close();
    } catch (Exception e) {
      throw FlightErrors.fromCall(e, false);
    }
  }
}
