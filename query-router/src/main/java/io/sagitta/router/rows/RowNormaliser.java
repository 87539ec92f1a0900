// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.WriteMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Turns the batches of one stream into canonical rows. Compiled once for the stream's schema: which
 * of its columns is which field, and how it is read; a column that can never be accepted is refused
 * then.
 *
 * <p>Columns may come in any order. A field that is not sent is null after an upsert or insert (so
 * a vector field that is not nullable must be sent) and keeps its values in an update; it has no
 * column in the result, so that a field added meanwhile changes nothing about how a batch is cut. A
 * delete needs the id column; other fields may be sent along and are not looked at.
 */
public final class RowNormaliser {
  /** Bytes of one record batch as sent (docs/contract.md, section 7). */
  public static final int BATCH_BYTES_MAX = 16 << 20;

  private final CollectionSchema schema;
  private final DictionaryProvider dictionaries;
  private final List<Source> sources;

  /** A column of the stream and its reader. */
  private record Source(int place, ColumnReader reader) {}

  private RowNormaliser(
      CollectionSchema schema, DictionaryProvider dictionaries, List<Source> sources) {
    this.schema = schema;
    this.dictionaries = dictionaries;
    this.sources = List.copyOf(sources);
  }

  /**
   * Compiles a stream.
   *
   * @param dictionaries the stream's, live
   * @throws SagittaException INVALID_ARGUMENT naming the column that is missing, unknown, sent
   *     twice or of a type that is not accepted
   */
  public static RowNormaliser compile(
      CollectionSchema schema, WriteMode mode, Schema sent, DictionaryProvider dictionaries) {
    checkNames(schema, sent);
    List<Source> sources = new ArrayList<>();
    sources.add(
        find(sent, CollectionSchema.ID, dictionaries, f -> IdColumn.of(schema.idType(), f)));
    if (sources.getFirst() == null) {
      throw SagittaException.invalid("column 'id' is missing");
    }
    sources.add(find(sent, ArrowSchemas.IF_VERSION, dictionaries, ConditionColumn::new));
    if (mode != WriteMode.DELETE) {
      for (Field field : schema.fields()) {
        Source source = find(sent, field.name(), dictionaries, f -> reader(field, f));
        if (source == null && mode != WriteMode.UPDATE && !field.nullable()) {
          throw SagittaException.invalid(
              "column " + Names.quote(field.name()) + " is missing and not nullable");
        }
        sources.add(source);
      }
    }
    sources.removeIf(source -> source == null);
    return new RowNormaliser(schema, dictionaries, sources);
  }

  /**
   * Checks a batch as a whole and gives its rows in canonical form. They borrow from the batch;
   * close them before it is reused.
   *
   * @throws SagittaException INVALID_ARGUMENT naming row and column; LIMIT for a batch that is too
   *     large
   */
  public CanonicalRows normalise(VectorSchemaRoot batch, BufferAllocator allocator) {
    int rows = batch.getRowCount();
    List<SentColumn> sent = new ArrayList<>(sources.size());
    for (Source source : sources) {
      sent.add(SentColumn.of(batch.getVector(source.place), rows, dictionaries));
    }
    checkSize(batch);
    List<Integer> columns = new ArrayList<>(sources.size());
    List<ReadColumn> read = new ArrayList<>(sources.size());
    try {
      for (int i = 0; i < sent.size(); i++) {
        ColumnReader reader = sources.get(i).reader;
        columns.add(reader.column());
        read.add(reader.read(sent.get(i), allocator));
      }
    } catch (Throwable e) {
      read.forEach(ReadColumn::close);
      throw e;
    }
    return new CanonicalRows(schema, columns, rows, read);
  }

  /** The schema this was compiled for. */
  public CollectionSchema schema() {
    return schema;
  }

  private void checkSize(VectorSchemaRoot batch) {
    long bytes = 0;
    for (Source source : sources) {
      bytes += batch.getVector(source.place).getBufferSize();
    }
    if (bytes > BATCH_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "the batch has %d bytes in %d rows, expected at most %d; send fewer rows at a time"
              .formatted(bytes, batch.getRowCount(), BATCH_BYTES_MAX));
    }
  }

  private static void checkNames(CollectionSchema schema, Schema sent) {
    Set<String> seen = new HashSet<>();
    for (var column : sent.getFields()) {
      String name = column.getName();
      if (!seen.add(name)) {
        throw SagittaException.invalid("column " + Names.quote(name) + " is sent twice");
      }
      boolean known =
          name.equals(CollectionSchema.ID)
              || name.equals(ArrowSchemas.IF_VERSION)
              || schema.field(name).isPresent();
      if (!known) {
        throw SagittaException.invalid(
            "unknown column "
                + Names.quote(name)
                + ", expected "
                + CollectionSchema.ID
                + " and fields of "
                + schema.fields().stream().map(Field::name).toList());
      }
    }
  }

  private interface Compile {
    ColumnReader of(org.apache.arrow.vector.types.pojo.Field values);
  }

  private static Source find(
      Schema sent, String name, DictionaryProvider dictionaries, Compile compile) {
    for (int place = 0; place < sent.getFields().size(); place++) {
      var column = sent.getFields().get(place);
      if (column.getName().equals(name)) {
        return new Source(place, compile.of(SentColumn.valueField(column, dictionaries)));
      }
    }
    return null;
  }

  private static ColumnReader reader(Field field, org.apache.arrow.vector.types.pojo.Field values) {
    return switch (field) {
      case VectorField vector -> VectorColumn.of(vector, values);
      case PayloadField payload ->
          PayloadColumn.of(payload.fieldId(), payload.type(), ArrowSchemas.field(payload), values);
    };
  }
}
