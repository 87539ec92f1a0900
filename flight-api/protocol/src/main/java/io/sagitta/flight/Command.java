// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.FilterText;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A request as it was asked, parsed from JSON (docs/protocol.md, section 2) and checked as far as
 * that is possible without the collection's schema. One record a verb.
 */
public sealed interface Command {

  /** The verb: the one key of the JSON object, or the action's type. */
  String verb();

  /** How fresh a read must be, as asked. */
  record Consistency(Level level, Optional<String> token, OptionalLong maxStalenessMs) {
    /** Levels by their name in requests. */
    public enum Level {
      STRONG,
      SESSION,
      BOUNDED,
      ANY
    }

    public static final Consistency STRONG =
        new Consistency(Level.STRONG, Optional.empty(), OptionalLong.empty());
  }

  /** What to search for. */
  sealed interface Query {
    /** Vectors as given: rows of equal length, exact numbers already checked to be finite. */
    record Vectors(float[][] rows) implements Query {}

    /** {@code vector_f32}: little-endian float32, as many rows as its length holds dimensions. */
    record PackedVectors(byte[] littleEndian) implements Query {}

    /** The stored vector of a point. */
    record Like(IdText id) implements Query {}
  }

  /**
   * An id as it stood in JSON; its type is known only with the schema.
   *
   * @param text digits or string, exact
   * @param quoted whether it was a JSON string
   */
  record IdText(String text, boolean quoted) {}

  /**
   * One hit of each value of a field, or some.
   *
   * @param field the field whose equal values make a group
   * @param size hits of a group at most
   */
  record GroupBy(String field, int size) {}

  /**
   * Search. {@code bound} is min_score or max_distance; which of them fits is checked with the
   * schema. With {@code groupBy}, k and offset count groups.
   */
  record Search(
      String collection,
      Optional<String> field,
      Query query,
      int k,
      int offset,
      Optional<FilterText> filter,
      Effort effort,
      OptionalDouble minScore,
      OptionalDouble maxDistance,
      Optional<List<String>> fields,
      Consistency consistency,
      boolean partial,
      OptionalLong timeoutMs,
      boolean explain,
      Optional<GroupBy> groupBy)
      implements Command {
    @Override
    public String verb() {
      return "search";
    }
  }

  /** Points by id, in the order asked. */
  record Get(
      String collection, List<IdText> ids, Optional<List<String>> fields, Consistency consistency)
      implements Command {
    @Override
    public String verb() {
      return "get";
    }
  }

  /** Points in id order. {@code shard} restricts to one shard (endpoints of GetFlightInfo). */
  record Scan(
      String collection,
      Optional<FilterText> filter,
      Optional<List<String>> fields,
      Optional<String> cursor,
      OptionalInt limit,
      Consistency consistency,
      OptionalInt shard)
      implements Command {
    @Override
    public String verb() {
      return "scan";
    }
  }

  /** The descriptor of a DoPut stream. */
  record Put(
      String collection, WriteMode mode, Optional<WriterId> writer, Optional<CreateSpec> create)
      implements Command {
    @Override
    public String verb() {
      return "put";
    }
  }

  /** Creates a collection. */
  record Create(CreateSpec spec) implements Command {
    @Override
    public String verb() {
      return "create";
    }
  }

  /**
   * A collection to be created.
   *
   * @param schema version 1, field ids from 1 in order; without fields within a put: then id type
   *     and fields are those of the stream's columns
   * @param shards absent: the number of nodes, at most 16
   * @param replicas absent or 0: auto
   */
  record CreateSpec(
      String collection, CollectionSchema schema, OptionalInt shards, OptionalInt replicas) {}

  /** Drops a collection. */
  record Drop(String collection) implements Command {
    @Override
    public String verb() {
      return "drop";
    }
  }

  /** Describes a collection. */
  record Describe(String collection) implements Command {
    @Override
    public String verb() {
      return "describe";
    }
  }

  /** Compares what the replicas of a collection's shards hold. */
  record Verify(String collection) implements Command {
    @Override
    public String verb() {
      return "verify";
    }
  }

  /** Counts points. */
  record Count(String collection, Optional<FilterText> filter, Consistency consistency)
      implements Command {
    @Override
    public String verb() {
      return "count";
    }
  }

  /** Deletes by filter. */
  record Delete(String collection, FilterText filter) implements Command {
    @Override
    public String verb() {
      return "delete";
    }
  }

  /** Sets payload by filter or ids; values are JSON values by field name. */
  record SetPayload(
      String collection,
      Optional<FilterText> filter,
      Optional<List<IdText>> ids,
      Map<String, Object> values)
      implements Command {
    @Override
    public String verb() {
      return "set";
    }
  }

  /** Makes payload fields null, by filter or ids. */
  record UnsetPayload(
      String collection,
      Optional<FilterText> filter,
      Optional<List<IdText>> ids,
      List<String> fields)
      implements Command {
    @Override
    public String verb() {
      return "unset";
    }
  }

  /** Opens a writer; {@code afterMs} is a horizon its opening time must exceed. */
  record OpenWriter(OptionalLong afterMs) implements Command {
    @Override
    public String verb() {
      return "open_writer";
    }
  }

  /** State of the cluster. */
  record Status() implements Command {
    @Override
    public String verb() {
      return "status";
    }
  }
}
