// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.Consistency.Level;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.Command.Query;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.VectorField;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Reads the inner object of each verb. One instance reads one command: its fields are the keys that
 * several verbs share, each checked as it is read; the verb's own method then puts them together.
 */
final class CommandReader {
  static final List<String> SEARCH_KEYS =
      List.of(
          "collection",
          "field",
          "vector",
          "vectors",
          "vector_f32",
          "like",
          "k",
          "offset",
          "filter",
          "params",
          "recall",
          "ef",
          "exact",
          "min_score",
          "max_distance",
          "group_by",
          "group_size",
          "fields",
          "consistency",
          "token",
          "max_staleness_ms",
          "partial",
          "timeout_ms",
          "explain");
  static final List<String> GET_KEYS =
      List.of("collection", "ids", "fields", "consistency", "token", "max_staleness_ms");
  static final List<String> SCAN_KEYS =
      List.of(
          "collection",
          "filter",
          "params",
          "fields",
          "cursor",
          "limit",
          "consistency",
          "token",
          "max_staleness_ms",
          "shard");
  static final List<String> PUT_KEYS =
      List.of("collection", "mode", "writer", "consistency", "create");
  static final List<String> COLLECTION_KEYS = List.of("collection");
  static final List<String> COUNT_KEYS =
      List.of("collection", "filter", "params", "consistency", "token", "max_staleness_ms");
  static final List<String> DELETE_KEYS = List.of("collection", "filter", "params");
  static final List<String> SET_KEYS = List.of("collection", "filter", "params", "ids", "values");
  static final List<String> UNSET_KEYS = List.of("collection", "filter", "params", "ids", "fields");
  static final List<String> OPEN_WRITER_KEYS = List.of("after");
  static final List<String> STATUS_KEYS = List.of();

  private final StrictJson in;

  // Keys that several verbs share.
  private String collection;
  private Optional<List<String>> fields = Optional.empty();
  private Optional<String> filter = Optional.empty();
  private Optional<List<Object>> params = Optional.empty();
  private Optional<Level> level = Optional.empty();
  private Optional<String> token = Optional.empty();
  private OptionalLong maxStalenessMs = OptionalLong.empty();
  private Optional<List<IdText>> ids = Optional.empty();

  private CommandReader(StrictJson in) {
    this.in = in;
  }

  /**
   * Reads the object at hand as the inner object of {@code verb}, one of {@link Commands#VERBS}.
   */
  static Command read(String verb, StrictJson in) {
    CommandReader reader = new CommandReader(in);
    return switch (verb) {
      case "search" -> reader.search();
      case "get" -> reader.get();
      case "scan" -> reader.scan();
      case "put" -> reader.put();
      case "create" -> new Command.Create(SchemaJson.readCreate(in, false));
      case "drop" -> new Command.Drop(reader.collectionOnly());
      case "describe" -> new Command.Describe(reader.collectionOnly());
      case "verify" -> new Command.Verify(reader.collectionOnly());
      case "count" -> reader.count();
      case "delete" -> reader.delete();
      case "set" -> reader.set();
      case "unset" -> reader.unset();
      case "open_writer" -> reader.openWriter();
      case "status" -> reader.status();
      default -> throw new IllegalArgumentException("unknown verb " + verb);
    };
  }

  // ---- reads

  private Command.Search search() {
    Optional<String> field = Optional.empty();
    Query query = null;
    String queryKey = null;
    Effort effort = null;
    String effortKey = null;
    int k = 10;
    int offset = 0;
    OptionalDouble minScore = OptionalDouble.empty();
    OptionalDouble maxDistance = OptionalDouble.empty();
    boolean partial = false;
    boolean explain = false;
    OptionalLong timeoutMs = OptionalLong.empty();
    Optional<String> groupBy = Optional.empty();
    OptionalInt groupSize = OptionalInt.empty();
    in.enter(SEARCH_KEYS);
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      switch (key) {
        case "field" -> field = Optional.of(in.string());
        case "vector", "vectors", "vector_f32", "like" -> {
          if (query != null) {
            throw in.wrongHere("'" + queryKey + "' is given too, expected one of them");
          }
          query = query(key);
          queryKey = key;
        }
        case "k" -> k = in.integer(1, RequestLimits.HITS_MAX);
        case "offset" -> offset = in.integer(0, RequestLimits.HITS_MAX - 1);
        case "recall", "ef", "exact" -> {
          Effort asked = effort(key);
          if (asked != null && effort != null) {
            throw in.wrongHere("'" + effortKey + "' is given too, expected one of them");
          }
          if (asked != null) {
            effort = asked;
            effortKey = key;
          }
        }
        case "min_score" -> minScore = OptionalDouble.of(in.number("a finite number"));
        case "max_distance" -> maxDistance = OptionalDouble.of(distance());
        case "group_by" -> groupBy = Optional.of(in.string());
        case "group_size" -> groupSize = OptionalInt.of(in.integer(1, RequestLimits.HITS_MAX));
        case "partial" -> partial = in.bool();
        case "explain" -> explain = in.bool();
        case "timeout_ms" ->
            timeoutMs = OptionalLong.of(in.integer(1L, RequestLimits.TIMEOUT_MS_MAX));
        default -> shared(key);
      }
    }
    in.require(collection != null, "collection");
    in.requireOneOf(query != null, List.of("vector", "vectors", "vector_f32", "like"));
    if (offset + k > RequestLimits.HITS_MAX) {
      throw in.wrongHere(
          "offset + k is " + (offset + k) + ", expected at most " + RequestLimits.HITS_MAX);
    }
    if (groupSize.isPresent() && groupBy.isEmpty()) {
      throw in.wrongHere("'group_size' is given without 'group_by'");
    }
    int hitsOfGroup = groupSize.orElse(1);
    long hits = (long) (offset + k) * hitsOfGroup;
    if (hits > RequestLimits.HITS_MAX) {
      throw in.wrongHere(
          "(offset + k) * group_size is " + hits + ", expected at most " + RequestLimits.HITS_MAX);
    }
    if (minScore.isPresent() && maxDistance.isPresent()) {
      throw in.wrongHere("'min_score' and 'max_distance' are both given, expected one of them");
    }
    return new Command.Search(
        collection,
        field,
        query,
        k,
        offset,
        filterText(),
        effort == null ? DEFAULT_EFFORT : effort,
        minScore,
        maxDistance,
        fields,
        consistency(),
        partial,
        timeoutMs,
        explain,
        groupBy.map(name -> new Command.GroupBy(name, hitsOfGroup)));
  }

  /** What a search that says nothing of effort is planned for. */
  static final Effort DEFAULT_EFFORT = new Effort.Recall(0.95);

  private Query query(String key) {
    return switch (key) {
      case "vector" -> new Query.Vectors(new float[][] {in.floats(0, componentsMax())});
      case "vectors" -> new Query.Vectors(vectors());
      case "vector_f32" -> new Query.PackedVectors(packed());
      default -> new Query.Like(id());
    };
  }

  /** A binary vector is asked for bit by bit, so bits bound all types. */
  private static int componentsMax() {
    return VectorField.DIMENSION_BITS_MAX;
  }

  private float[][] vectors() {
    in.enterArray("an array of vectors");
    List<float[]> rows = new ArrayList<>();
    while (in.nextElement()) {
      if (rows.size() == RequestLimits.QUERIES_MAX) {
        throw in.tooMany(RequestLimits.QUERIES_MAX, "vectors");
      }
      float[] row = in.floats(rows.size(), componentsMax());
      if (!rows.isEmpty() && row.length != rows.getFirst().length) {
        throw in.wrongHere(
            "vector "
                + rows.size()
                + " has "
                + row.length
                + " components, expected "
                + rows.getFirst().length
                + " as in vector 0");
      }
      rows.add(row);
    }
    if (rows.isEmpty()) {
      throw in.wrong("at least one vector");
    }
    return rows.toArray(float[][]::new);
  }

  private byte[] packed() {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(in.string());
    } catch (IllegalArgumentException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "'vector_f32' is not base64: " + e.getMessage(), e);
    }
    if (bytes.length == 0 || bytes.length % Float.BYTES != 0) {
      throw in.wrongHere(
          bytes.length + " bytes, expected float32 values: a positive multiple of 4");
    }
    ByteBuffer values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < bytes.length; i += Float.BYTES) {
      if (!Float.isFinite(values.getFloat(i))) {
        throw in.wrongHere(
            "component "
                + i / Float.BYTES
                + " is "
                + values.getFloat(i)
                + ", expected finite values");
      }
    }
    return bytes;
  }

  /** The effort asked for by the key at hand; null for {@code "exact": false}. */
  private Effort effort(String key) {
    switch (key) {
      case "recall" -> {
        double target = in.number("a number above 0, at most 1");
        if (!(target > 0 && target <= 1)) {
          throw in.wrong("a number above 0, at most 1");
        }
        return new Effort.Recall(target);
      }
      case "ef" -> {
        return new Effort.Ef(in.integer(1, RequestLimits.EF_MAX));
      }
      default -> {
        return in.bool() ? new Effort.Exact() : null;
      }
    }
  }

  private double distance() {
    double value = in.number("a finite number of at least 0");
    if (value < 0) {
      throw in.wrong("a finite number of at least 0");
    }
    return value;
  }

  private Command.Get get() {
    in.enter(GET_KEYS);
    readShared();
    in.require(ids.isPresent(), "ids");
    return new Command.Get(collection, ids.orElseThrow(), fields, consistency());
  }

  private Command.Scan scan() {
    Optional<String> cursor = Optional.empty();
    OptionalInt limit = OptionalInt.empty();
    OptionalInt shard = OptionalInt.empty();
    in.enter(SCAN_KEYS);
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      switch (key) {
        case "cursor" -> cursor = Optional.of(in.string());
        case "limit" -> limit = OptionalInt.of(in.integer(1, Integer.MAX_VALUE));
        case "shard" -> shard = OptionalInt.of(in.integer(0, RequestLimits.SHARDS_MAX - 1));
        default -> shared(key);
      }
    }
    in.require(collection != null, "collection");
    return new Command.Scan(collection, filterText(), fields, cursor, limit, consistency(), shard);
  }

  private Command.Count count() {
    in.enter(COUNT_KEYS);
    readShared();
    return new Command.Count(collection, filterText(), consistency());
  }

  // ---- writes

  private Command.Put put() {
    WriteMode mode = WriteMode.UPSERT;
    Optional<WriterId> writer = Optional.empty();
    Optional<CreateSpec> create = Optional.empty();
    in.enter(PUT_KEYS);
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      switch (key) {
        case "mode" -> mode = in.oneOf(WriteMode.class);
        case "writer" -> writer = Optional.of(in.checked(() -> WriterId.parse(in.string())));
        case "create" -> create = Optional.of(SchemaJson.readCreate(in, true));
        default -> shared(key);
      }
    }
    in.require(collection != null, "collection");
    if (level.orElse(Level.STRONG) != Level.STRONG) {
      throw in.wrongHere("'consistency' of a put is always \"strong\": acknowledged is visible");
    }
    return new Command.Put(collection, mode, writer, create.map(this::named));
  }

  /** {@code create} within a put is of the put's collection, whichever stood first. */
  private CreateSpec named(CreateSpec spec) {
    if (spec.collection() != null && !spec.collection().equals(collection)) {
      throw in.wrongHere(
          "'create.collection' is "
              + Names.quote(spec.collection())
              + ", expected "
              + Names.quote(collection)
              + " as in the put");
    }
    return new CreateSpec(collection, spec.schema(), spec.shards(), spec.replicas());
  }

  private Command.Delete delete() {
    in.enter(DELETE_KEYS);
    readShared();
    in.require(filter.isPresent(), "filter");
    return new Command.Delete(collection, filterText().orElseThrow());
  }

  private Command.SetPayload set() {
    Map<String, Object> values = null;
    in.enter(SET_KEYS);
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      switch (key) {
        case "values" -> values = in.object();
        default -> shared(key);
      }
    }
    in.require(collection != null, "collection");
    in.require(values != null, "values");
    if (values.isEmpty()) {
      throw in.wrongHere("'values' is empty, expected at least one field");
    }
    requireWhich();
    return new Command.SetPayload(collection, filterText(), ids, values);
  }

  private Command.UnsetPayload unset() {
    in.enter(UNSET_KEYS);
    readShared();
    in.require(fields.isPresent(), "fields");
    if (fields.orElseThrow().isEmpty()) {
      throw in.wrongHere("'fields' is empty, expected at least one field");
    }
    requireWhich();
    return new Command.UnsetPayload(collection, filterText(), ids, fields.orElseThrow());
  }

  /** All points at once must be asked for: {@code "filter": "true"} is not an accident. */
  private void requireWhich() {
    if (filter.isPresent() == ids.isPresent()) {
      throw in.wrongHere("expected one of 'filter' and 'ids'");
    }
  }

  // ---- the rest

  private String collectionOnly() {
    in.enter(COLLECTION_KEYS);
    readShared();
    return collection;
  }

  private Command.OpenWriter openWriter() {
    OptionalLong after = OptionalLong.empty();
    in.enter(OPEN_WRITER_KEYS);
    while (in.nextKey() != null) {
      after = OptionalLong.of(in.integer(0L, Long.MAX_VALUE - 1));
    }
    return new Command.OpenWriter(after);
  }

  private Command.Status status() {
    in.enter(STATUS_KEYS);
    in.nextKey();
    return new Command.Status();
  }

  // ---- keys that verbs share

  /** Reads the rest of the object entered, all of whose keys are shared ones. */
  private void readShared() {
    for (String key = in.nextKey(); key != null; key = in.nextKey()) {
      shared(key);
    }
    in.require(collection != null, "collection");
  }

  private void shared(String key) {
    switch (key) {
      case "collection" ->
          collection = in.checked(() -> Names.checkCollection("collection", in.string()));
      case "fields" -> fields = Optional.of(in.distinctStrings(RequestLimits.FIELDS_MAX));
      case "filter" -> filter = Optional.of(filterString());
      case "params" -> params = Optional.of(params(in));
      case "ids" -> ids = Optional.of(ids());
      case "consistency" -> level = Optional.of(in.oneOf(Level.class));
      case "token" -> token = Optional.of(in.string());
      case "max_staleness_ms" ->
          maxStalenessMs = OptionalLong.of(in.integer(0L, RequestLimits.STALENESS_MS_MAX));
      default -> throw new IllegalStateException("no verb reads key " + key);
    }
  }

  private String filterString() {
    String text = in.string();
    if (text.length() > FilterText.TEXT_BYTES_MAX
        || text.getBytes(StandardCharsets.UTF_8).length > FilterText.TEXT_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT, "'filter' has more than " + FilterText.TEXT_BYTES_MAX + " bytes");
    }
    return text;
  }

  private Optional<FilterText> filterText() {
    if (filter.isEmpty() && params.isPresent()) {
      throw in.wrongHere("'params' without 'filter'");
    }
    return filter.map(text -> new FilterText(text, params.orElse(List.of())));
  }

  /** The array at hand as parameters of a filter. */
  static List<Object> params(StrictJson in) {
    in.enterArray("an array of values");
    List<Object> values = new ArrayList<>();
    while (in.nextElement()) {
      requireRoom(values, "parameters", in);
      values.add(in.isArray() ? paramList(in) : in.scalar(PARAM));
    }
    return values;
  }

  private static final String PARAM = "a number, string, true, false, null or an array of these";

  private static List<Object> paramList(StrictJson in) {
    in.enterArray(PARAM);
    List<Object> values = new ArrayList<>();
    while (in.nextElement()) {
      requireRoom(values, "values", in);
      values.add(in.scalar("a number, string, true, false or null"));
    }
    return values;
  }

  private static void requireRoom(List<Object> values, String what, StrictJson in) {
    if (values.size() == RequestLimits.PARAMS_MAX) {
      throw in.tooMany(RequestLimits.PARAMS_MAX, what);
    }
  }

  private List<IdText> ids() {
    in.enterArray("an array of ids");
    List<IdText> values = new ArrayList<>();
    while (in.nextElement()) {
      if (values.size() == RequestLimits.IDS_MAX) {
        throw in.tooMany(RequestLimits.IDS_MAX, "ids");
      }
      values.add(id());
    }
    return List.copyOf(values);
  }

  private IdText id() {
    if (in.isString()) {
      return new IdText(in.string(), true);
    }
    if (in.isInteger()) {
      return new IdText(in.integerText(), false);
    }
    throw in.wrong("an id: an integer or a string");
  }

  private Consistency consistency() {
    Level asked = level.orElse(Level.STRONG);
    requireTogether("token", token.isPresent(), asked, Level.SESSION);
    requireTogether("max_staleness_ms", maxStalenessMs.isPresent(), asked, Level.BOUNDED);
    return new Consistency(asked, token, maxStalenessMs);
  }

  private void requireTogether(String key, boolean given, Level asked, Level needed) {
    if (given != (asked == needed)) {
      throw in.wrongHere(
          "'" + key + "' and \"consistency\": \"" + StrictJson.nameOf(needed) + "\" go together");
    }
  }
}
