// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server.ipc;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.DictionaryUtility;
import org.apache.arrow.vector.util.VectorBatchAppender;

/**
 * The table of one upload: its schema, its dictionaries as they stand, and one batch at a time.
 * Dictionary-encoded columns show as their indices; {@link #dictionaries} is live, so that a batch
 * is decoded by the dictionaries that hold when it arrives. One thread at a time.
 */
public final class IncomingBatches implements AutoCloseable {
  /** Bytes one record batch may have as sent (docs/contract.md, section 7). */
  public static final int BATCH_BYTES_MAX = 16 << 20;

  /** Bytes all dictionaries of a stream may have together. */
  public static final int DICTIONARY_BYTES_MAX = 16 << 20;

  private static final long RETRY_AFTER_MS = 200;

  private final BufferAllocator allocator;
  private final VectorSchemaRoot root;
  private final Map<Long, Dictionary> dictionaries;
  private final Map<Long, Long> dictionaryBytes = new HashMap<>();

  private IncomingBatches(
      BufferAllocator allocator, VectorSchemaRoot root, Map<Long, Dictionary> dictionaries) {
    this.allocator = allocator;
    this.root = root;
    this.dictionaries = dictionaries;
  }

  /**
   * Opens a table by its schema message.
   *
   * @throws SagittaException INVALID_ARGUMENT where the message is no schema or a column has a type
   *     that is not accepted, LIMIT where it is too large
   */
  public static IncomingBatches open(IncomingFrame.Data frame, BufferAllocator allocator) {
    Map<Long, Dictionary> dictionaries = new HashMap<>();
    try {
      Message message = message(frame);
      if (message.headerType() != MessageHeader.Schema) {
        throw SagittaException.invalid(
            "the stream begins with a "
                + name(message.headerType())
                + " message, expected its schema");
      }
      org.apache.arrow.flatbuf.Schema header =
          (org.apache.arrow.flatbuf.Schema) message.header(new org.apache.arrow.flatbuf.Schema());
      SchemaGuard.checkSize(header);
      Schema sent = MessageSerializer.deserializeSchema(message);
      SchemaGuard.checkTypes(sent);
      List<Field> fields = new ArrayList<>();
      for (Field field : sent.getFields()) {
        fields.add(DictionaryUtility.toMemoryFormat(field, allocator, dictionaries));
      }
      Schema schema = new Schema(fields, sent.getCustomMetadata());
      return new IncomingBatches(
          allocator, VectorSchemaRoot.create(schema, allocator), dictionaries);
    } catch (RuntimeException e) {
      dictionaries.values().forEach(dictionary -> dictionary.getVector().close());
      throw refusal("schema", e);
    }
  }

  /** The schema; a dictionary-encoded column has the type of its indices. */
  public Schema schema() {
    return root.getSchema();
  }

  /** The dictionaries as they stand. */
  public DictionaryProvider dictionaries() {
    return new DictionaryProvider.MapDictionaryProvider(
        dictionaries.values().toArray(Dictionary[]::new));
  }

  /**
   * Takes the next message.
   *
   * @return the batch, overwritten by the next call; empty where the message was a dictionary
   * @throws SagittaException INVALID_ARGUMENT where the message is malformed, LIMIT where it is too
   *     large, UNIMPLEMENTED where it is compressed, UNAVAILABLE where memory is short
   */
  public Optional<VectorSchemaRoot> next(IncomingFrame.Data frame) {
    if (frame.bodyBytes() > BATCH_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "record batch has "
              + frame.bodyBytes()
              + " bytes, at most "
              + BATCH_BYTES_MAX
              + ": send smaller batches");
    }
    try {
      Message message = message(frame);
      return switch (message.headerType()) {
        case MessageHeader.RecordBatch -> {
          load(root, (RecordBatch) message.header(new RecordBatch()), frame);
          yield Optional.of(root);
        }
        case MessageHeader.DictionaryBatch -> {
          loadDictionary((DictionaryBatch) message.header(new DictionaryBatch()), frame);
          yield Optional.empty();
        }
        default ->
            throw SagittaException.invalid(
                "the stream has a "
                    + name(message.headerType())
                    + " message, expected record batches");
      };
    } catch (IOException | RuntimeException e) {
      throw refusal("record batch", e);
    }
  }

  private void loadDictionary(DictionaryBatch batch, IncomingFrame.Data frame) throws IOException {
    Dictionary dictionary = dictionaries.get(batch.id());
    if (dictionary == null) {
      throw SagittaException.invalid(
          "the stream has a dictionary " + batch.id() + " that its schema does not name");
    }
    long before = batch.isDelta() ? dictionaryBytes.getOrDefault(batch.id(), 0L) : 0;
    dictionaryBytes.put(batch.id(), before + frame.bodyBytes());
    long all = dictionaryBytes.values().stream().mapToLong(Long::longValue).sum();
    if (all > DICTIONARY_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "the stream's dictionaries have " + all + " bytes, at most " + DICTIONARY_BYTES_MAX);
    }
    FieldVector values = dictionary.getVector();
    if (!batch.isDelta()) {
      load(single(values), batch.data(), frame);
      return;
    }
    try (FieldVector more = values.getField().createVector(allocator)) {
      load(single(more), batch.data(), frame);
      VectorBatchAppender.batchAppend(values, more);
    }
  }

  private static VectorSchemaRoot single(FieldVector vector) {
    return new VectorSchemaRoot(List.of(vector.getField()), List.of(vector), 0);
  }

  private void load(VectorSchemaRoot target, RecordBatch batch, IncomingFrame.Data frame)
      throws IOException {
    target.clear();
    ArrowBuf body = frame.body().orElse(allocator.getEmpty());
    BatchGuard.check(batch, target.getSchema().getFields(), body);
    try (ArrowRecordBatch loaded = slice(batch, body)) {
      new VectorLoader(target).load(loaded);
    }
  }

  /** The batch's buffers as slices of the body, each holding it. */
  private static ArrowRecordBatch slice(RecordBatch batch, ArrowBuf body) throws IOException {
    body.getReferenceManager().retain();
    try {
      // Gives one reference back when it is done.
      return MessageSerializer.deserializeRecordBatch(batch, body);
    } catch (IOException | RuntimeException e) {
      body.getReferenceManager().release();
      throw e;
    }
  }

  private static Message message(IncomingFrame.Data frame) {
    ByteBuffer header =
        frame
            .header()
            .orElseThrow(() -> SagittaException.invalid("a message of the stream has no header"));
    return Message.getRootAsMessage(header.duplicate().order(ByteOrder.LITTLE_ENDIAN));
  }

  private static String name(byte headerType) {
    return headerType >= 0 && headerType < MessageHeader.names.length
        ? MessageHeader.name(headerType)
        : "kind " + headerType;
  }

  private static SagittaException refusal(String what, Exception e) {
    return switch (e) {
      case SagittaException error -> error;
      case OutOfMemoryException memory ->
          new SagittaException(
              ErrorCode.UNAVAILABLE, "no memory for an upload now", RETRY_AFTER_MS, memory);
      default ->
          new SagittaException(
              ErrorCode.INVALID_ARGUMENT, "malformed " + what + ": " + e.getMessage(), e);
    };
  }

  @Override
  public void close() {
    root.close();
    dictionaries.values().forEach(dictionary -> dictionary.getVector().close());
  }
}
