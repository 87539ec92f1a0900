// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.apache.arrow.flight.FlightProducer.ServerStreamListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Sends one answer of rows. What fits one message, as nearly all do, is sent by the thread that has
 * it; more goes out from a virtual thread at the reader's pace.
 */
final class AnswerWriter {
  private final BufferAllocator allocator;
  private final Executor virtualThreads;
  private final int messageBytesMax;
  private final long answerBytesMax;
  private final long stallMs;
  private final Function<Throwable, ? extends RuntimeException> errors;

  /**
   * A writer.
   *
   * @param messageBytesMax bytes of one message
   * @param answerBytesMax bytes of one whole answer
   * @param stallMs how long a reader may read nothing
   * @param errors how failures look on this port
   */
  AnswerWriter(
      BufferAllocator allocator,
      Executor virtualThreads,
      int messageBytesMax,
      long answerBytesMax,
      long stallMs,
      Function<Throwable, ? extends RuntimeException> errors) {
    this.allocator = allocator;
    this.virtualThreads = virtualThreads;
    this.messageBytesMax = messageBytesMax;
    this.answerBytesMax = answerBytesMax;
    this.stallMs = stallMs;
    this.errors = errors;
  }

  /**
   * The rows' schema with more metadata, and the items of lists by the name they have in schemas.
   */
  static Schema withMetadata(Schema schema, Map<String, String> more) {
    Map<String, String> metadata = new LinkedHashMap<>();
    if (schema.getCustomMetadata() != null) {
      metadata.putAll(schema.getCustomMetadata());
    }
    metadata.putAll(more);
    return new Schema(schema.getFields().stream().map(AnswerWriter::itemsNamed).toList(), metadata);
  }

  /** Vectors call the items of a list something of their own. */
  private static Field itemsNamed(Field field) {
    boolean isList =
        field.getType() instanceof ArrowType.List
            || field.getType() instanceof ArrowType.FixedSizeList;
    if (!isList) {
      return field;
    }
    Field item = itemsNamed(field.getChildren().getFirst());
    return new Field(
        field.getName(),
        field.getFieldType(),
        List.of(new Field(ArrowSchemas.ITEM, item.getFieldType(), item.getChildren())));
  }

  /**
   * Sends rows and ends the call.
   *
   * @param rows closed when sent, or when that fails
   * @param schema the rows' schema with the answer's metadata
   */
  void send(
      VectorSchemaRoot rows, Schema schema, ServerStreamListener listener, SlowReader reader) {
    boolean handedOver = false;
    try {
      long bytes = BatchCutter.bytes(rows);
      if (bytes > answerBytesMax) {
        throw new SagittaException(
            ErrorCode.LIMIT,
            "the answer has "
                + bytes
                + " bytes, at most "
                + answerBytesMax
                + ": ask for fewer hits or fields");
      }
      if (bytes <= messageBytesMax / 2) {
        sendWhole(rows, schema, listener);
        return;
      }
      virtualThreads.execute(() -> sendCut(rows, schema, listener, reader));
      handedOver = true;
    } catch (RuntimeException e) {
      listener.error(errors.apply(e));
    } finally {
      if (!handedOver) {
        rows.close();
      }
    }
  }

  /**
   * The root made here only lends the vectors another schema; whoever owns the rows closes them.
   */
  private static void sendWhole(
      VectorSchemaRoot rows, Schema schema, ServerStreamListener listener) {
    VectorSchemaRoot answer =
        new VectorSchemaRoot(schema, rows.getFieldVectors(), rows.getRowCount());
    listener.start(answer);
    if (rows.getRowCount() > 0) {
      listener.putNext();
    }
    listener.completed();
  }

  private void sendCut(
      VectorSchemaRoot rows, Schema schema, ServerStreamListener listener, SlowReader reader) {
    try (rows;
        BatchCutter cutter = new BatchCutter(schema, messageBytesMax, allocator)) {
      listener.start(cutter.root());
      cutter.begin();
      while (cutter.cut(rows)) {
        reader.await(stallMs);
        listener.putNext();
      }
      // Before the call ends: whoever waits for that may check memory.
      cutter.close();
      listener.completed();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      listener.error(errors.apply(new SagittaException(ErrorCode.UNAVAILABLE, "stopping", e)));
    } catch (RuntimeException e) {
      listener.error(errors.apply(e));
    }
  }
}
