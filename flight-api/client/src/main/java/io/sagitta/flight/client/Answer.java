// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.flight.Certificate;
import io.sagitta.flight.FlightErrors;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.util.VectorSchemaRootAppender;

/**
 * The whole answer of a search or get: as Arrow columns in {@link #root}, or as {@link #rows}.
 * Close it to give its memory back; rows taken before stay valid.
 */
public final class Answer implements AutoCloseable {
  private static final Set<String> OWN = Set.of("query", CollectionSchema.ID, "_score", "_version");

  private final VectorSchemaRoot root;

  private Answer(VectorSchemaRoot root) {
    this.root = root;
  }

  /** Reads a stream to its end. */
  static Answer read(FlightStream stream, BufferAllocator allocator) {
    VectorSchemaRoot root = null;
    try {
      while (stream.next()) {
        if (root == null) {
          root = take(stream.getRoot(), allocator);
        } else {
          VectorSchemaRootAppender.append(root, stream.getRoot());
        }
      }
      if (root == null) {
        // Asking for the schema of a stream that has ended without one would wait for ever.
        if (!stream.hasRoot()) {
          throw new SagittaException(ErrorCode.UNAVAILABLE, "the answer ended before its schema");
        }
        root = VectorSchemaRoot.create(stream.getSchema(), allocator);
      }
      return new Answer(root);
    } catch (RuntimeException e) {
      if (root != null) {
        root.close();
      }
      throw FlightErrors.fromCall(e, false);
    }
  }

  /** Takes the buffers out of a root that its stream will reuse. */
  private static VectorSchemaRoot take(VectorSchemaRoot batch, BufferAllocator allocator) {
    VectorSchemaRoot taken = VectorSchemaRoot.create(batch.getSchema(), allocator);
    for (int i = 0; i < batch.getFieldVectors().size(); i++) {
      batch.getVector(i).makeTransferPair(taken.getVector(i)).transfer();
    }
    taken.setRowCount(batch.getRowCount());
    return taken;
  }

  /** The rows as Arrow columns; the certificate is in the schema's metadata. */
  public VectorSchemaRoot root() {
    return root;
  }

  /** What the answer says of itself; absent for get. */
  public Optional<Certificate> certificate() {
    return metadata(Certificate.METADATA_KEY).map(Certificate::parse);
  }

  /** Per-segment detail as JSON, where it was asked for. */
  public Optional<String> explain() {
    return metadata(Certificate.EXPLAIN_KEY);
  }

  private Optional<String> metadata(String key) {
    Map<String, String> metadata = root.getSchema().getCustomMetadata();
    return metadata == null ? Optional.empty() : Optional.ofNullable(metadata.get(key));
  }

  /** The rows as values, in the answer's order. */
  public List<Row> rows() {
    return rows(root);
  }

  /** The rows of any answer's batch. */
  public static List<Row> rows(VectorSchemaRoot batch) {
    FieldVector ids = batch.getVector(CollectionSchema.ID);
    IntVector queries = batch.getVector("query") instanceof IntVector column ? column : null;
    Float4Vector scores = batch.getVector("_score") instanceof Float4Vector column ? column : null;
    BigIntVector versions =
        batch.getVector("_version") instanceof BigIntVector column ? column : null;
    List<FieldVector> fields =
        batch.getFieldVectors().stream().filter(v -> !OWN.contains(v.getName())).toList();
    List<Row> rows = new ArrayList<>(batch.getRowCount());
    for (int row = 0; row < batch.getRowCount(); row++) {
      Map<String, Object> values = new LinkedHashMap<>();
      for (FieldVector field : fields) {
        values.put(field.getName(), Values.get(field, row));
      }
      rows.add(
          new Row(
              queries == null ? 0 : queries.get(row),
              Values.id(ids, row),
              scores == null ? OptionalDouble.empty() : OptionalDouble.of(scores.get(row)),
              versions == null ? 0 : versions.get(row),
              values));
    }
    return rows;
  }

  @Override
  public void close() {
    root.close();
  }
}
