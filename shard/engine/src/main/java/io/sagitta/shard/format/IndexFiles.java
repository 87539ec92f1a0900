// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.Metric;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.Effort;
import io.sagitta.shard.hnsw.IndexImage;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Graphs in files, {@code indexes/<segment id>.graph.<field id>}. They belong to this replica
 * alone: no manifest names them, and one that is missing or damaged is built again.
 *
 * <p>One thread at a time.
 */
public final class IndexFiles {
  private static final Logger LOG = LoggerFactory.getLogger(IndexFiles.class);

  private static final String DIRECTORY = "indexes";

  private static final int JSON = 1;
  private static final int CENTRE = 2;
  private static final int HIGH = 3;
  private static final int LOW = 4;
  private static final int LINKS = 5;
  private static final int LEVELS = 6;
  private static final int UPPER = 7;
  private static final int NEIGHBOURS = 8;
  private static final int CODEBOOK = 9;

  /** Recall and visited are kept as whole millionths, so that JSON holds no rounded doubles. */
  private static final double MILLION = 1e6;

  private final FileStore store;
  private Set<UUID> kept;

  public IndexFiles(FileStore store) {
    this.store = store;
  }

  /**
   * A graph from its file.
   *
   * @param index over memory that the file was read into, or over the mapped file; given back when
   *     the last user lets go of it
   * @param calibration what recall it gives
   * @param mapped whether the file is mapped
   */
  public record Opened(VectorIndex index, Calibration calibration, boolean mapped) {}

  /** Writes a complete graph; durable on return. */
  public void write(UUID segmentId, VectorField field, IndexImage image, Calibration calibration)
      throws IOException {
    store.createDirectory(DIRECTORY);
    String name = name(segmentId, field.fieldId());
    NewFile.write(
        store,
        name,
        header(segmentId, field, image.size()),
        out -> {
          JsonSection.write(out, JSON, json(image, calibration));
          floats(out, CENTRE, image.centre());
          region(out, HIGH, image.high());
          region(out, LOW, image.low());
          region(out, LINKS, image.links());
          region(out, LEVELS, image.levels());
          region(out, UPPER, image.upper());
          if (image.neighbours() != null) {
            region(out, NEIGHBOURS, image.neighbours().codes());
            floats(out, CODEBOOK, image.neighbours().codebook());
          }
        });
    store.syncDirectory(DIRECTORY);
    kept = null;
  }

  private static void floats(FrameWriter out, int section, float[] values) throws IOException {
    out.section(section);
    for (float value : values) {
      out.writeInt(Float.floatToRawIntBits(value));
    }
  }

  private static void region(FrameWriter out, int section, MemorySegment bytes) throws IOException {
    if (bytes != null) {
      out.section(section);
      out.write(bytes);
    }
  }

  /** A file's bytes; their index closes them, or whoever fails to make one. */
  private static final class Bytes implements AutoCloseable {
    private final Arena arena = Arena.ofShared();

    @Override
    public void close() {
      arena.close();
    }
  }

  /**
   * Reads a graph into memory and checks every byte of it; empty where there is none.
   *
   * @param fits whether so many bytes may be taken; where not, the graph is mapped
   * @throws CorruptFileException when it is damaged; it has been removed then
   */
  public Optional<Opened> open(UUID segmentId, VectorField field, int rows, LongPredicate fits)
      throws IOException {
    String name = name(segmentId, field.fieldId());
    if (!store.exists(name)) {
      return Optional.empty();
    }
    Bytes bytes = new Bytes();
    try {
      boolean mapped = !fits.test(store.length(name));
      Frame frame =
          mapped ? Frame.map(store, name, bytes.arena) : Frame.load(store, name, bytes.arena);
      frame.verify().expect(header(segmentId, field, rows));
      return Optional.of(read(frame, field, rows, bytes, mapped));
    } catch (FormatTooNewException | FormatTooOldException e) {
      bytes.close();
      LOG.info("{}: {} is built again: {}", store, name, e.getMessage());
      store.delete(name);
      return Optional.empty();
    } catch (CorruptFileException e) {
      bytes.close();
      store.delete(name);
      throw e;
    } catch (Throwable e) {
      bytes.close();
      throw e;
    }
  }

  private static Opened read(Frame frame, VectorField field, int rows, Bytes bytes, boolean mapped)
      throws IOException {
    JsonSection json = JsonSection.read(frame, JSON);
    float[] centre = floats(frame.section(CENTRE, (long) field.dimension() * Float.BYTES));
    try {
      IndexParameters parameters =
          new IndexParameters(
              VectorType.valueOf(json.text("vector")),
              Metric.valueOf(json.text("metric")),
              json.intNumber("dimension", 1),
              json.intNumber("links", 1),
              json.intNumber("ef_construction", 1));
      if (parameters.type() != field.type()
          || parameters.metric() != field.metric()
          || parameters.dimension() != field.dimension()) {
        throw json.invalid("the graph is over another kind of vector");
      }
      IndexImage image =
          new IndexImage(
              parameters,
              centre,
              rows,
              json.intNumber("entry", -1),
              json.intNumber("entry_level", 0),
              json.intNumber("upper_blocks", 0),
              frame.section(HIGH),
              frame.sectionOrNull(LOW),
              frame.section(LINKS),
              frame.section(LEVELS),
              frame.section(UPPER),
              neighbours(frame, json));
      return new Opened(VectorIndex.of(image, bytes::close), calibration(json), mapped);
    } catch (IllegalArgumentException e) {
      throw json.invalid(e.getMessage());
    }
  }

  private static IndexImage.Neighbours neighbours(Frame frame, JsonSection json)
      throws IOException {
    MemorySegment codes = frame.sectionOrNull(NEIGHBOURS);
    return codes == null
        ? null
        : new IndexImage.Neighbours(
            codes,
            floats(frame.section(CODEBOOK)),
            Float.intBitsToFloat(json.intNumber("neighbour_deviation_bits", 0)));
  }

  private static float[] floats(MemorySegment bytes) {
    float[] values = new float[(int) (bytes.byteSize() / Float.BYTES)];
    MemorySegment.copy(bytes, FrameLayout.FLOAT, 0, values, 0, values.length);
    return values;
  }

  private static ObjectNode json(IndexImage image, Calibration calibration) {
    IndexParameters parameters = image.parameters();
    ObjectNode json = JsonSection.object();
    json.put("vector", parameters.type().name());
    json.put("metric", parameters.metric().name());
    json.put("dimension", parameters.dimension());
    json.put("links", parameters.links());
    json.put("ef_construction", parameters.efConstruction());
    json.put("entry", image.entry());
    json.put("entry_level", image.entryLevel());
    json.put("upper_blocks", image.upperBlocks());
    if (image.neighbours() != null) {
      json.put("neighbour_deviation_bits", Float.floatToRawIntBits(image.neighbours().deviation()));
    }
    json.put("measured_rows", calibration.rows());
    json.put("measured_queries", calibration.queries());
    steps(json.putArray("recall"), calibration.steps());
    if (!calibration.farSteps().isEmpty()) {
      json.put("far_bits", Float.floatToRawIntBits(calibration.far()));
      steps(json.putArray("recall_far"), calibration.farSteps());
    }
    return json;
  }

  private static void steps(ArrayNode array, List<Calibration.Step> steps) {
    for (Calibration.Step step : steps) {
      array
          .addObject()
          .put("k", step.k())
          .put("ef", step.effort().ef())
          .put("rerank", step.effort().rerank())
          .put("traversal", step.effort().traversal().name())
          .put("recall_millionths", Math.round(step.recall() * MILLION))
          .put("visited_millionths", Math.round(step.visited() * MILLION));
    }
  }

  private static Calibration calibration(JsonSection json) throws IOException {
    boolean far = json.has("recall_far");
    return new Calibration(
        json.intNumber("measured_rows", 0),
        json.intNumber("measured_queries", 0),
        steps(json.list("recall")),
        far
            ? Float.intBitsToFloat(
                (int) json.number("far_bits", Integer.MIN_VALUE, Integer.MAX_VALUE))
            : Float.POSITIVE_INFINITY,
        far ? steps(json.list("recall_far")) : List.of());
  }

  private static List<Calibration.Step> steps(List<JsonSection> entries) throws IOException {
    List<Calibration.Step> steps = new ArrayList<>();
    for (JsonSection step : entries) {
      steps.add(
          new Calibration.Step(
              step.intNumber("k", 1),
              new Effort(
                  step.intNumber("ef", 1),
                  step.intNumber("rerank", 1),
                  Traversal.valueOf(step.text("traversal"))),
              step.number("recall_millionths", 0, (long) MILLION) / MILLION,
              step.number("visited_millionths", 0, Long.MAX_VALUE) / MILLION));
    }
    return steps;
  }

  /** Removes the graphs of all other segments, and what interrupted writes left. */
  public void retain(List<UUID> segmentIds) {
    Set<UUID> wanted = new HashSet<>(segmentIds);
    if (wanted.equals(kept)) {
      return;
    }
    try {
      for (String file : store.list(DIRECTORY)) {
        if (!ShardFiles.isGraphOf(file.substring(DIRECTORY.length() + 1), wanted)) {
          store.delete(file);
        }
      }
    } catch (NoSuchFileException e) {
      LOG.debug("{}: no graph has been written yet", store);
    } catch (IOException e) {
      LOG.warn("{}: graphs of dropped segments cannot be removed yet", store, e);
      return;
    }
    kept = wanted;
  }

  private static String name(UUID segmentId, int fieldId) {
    return DIRECTORY + "/" + ShardFiles.graph(segmentId, fieldId);
  }

  private static FrameHeader header(UUID segmentId, VectorField field, int rows) {
    return new FrameHeader(FileKind.GRAPH, segmentId, field.fieldId(), rows);
  }
}
