// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The file {@code .segment}: what a segment holds and which other files it consists of. Written
 * last.
 *
 * @param segmentId the segment
 * @param rows its rows, dead ones too
 * @param schema its fields
 * @param files its other files
 */
record SegmentInfo(UUID segmentId, int rows, CollectionSchema schema, List<CheckpointFile> files) {
  private static final int JSON = 1;

  CheckpointFile write(FileStore store) throws IOException {
    ObjectNode json = JsonSection.object();
    json.put("segment_id", segmentId.toString());
    json.put("rows", rows);
    json.put("schema_version", schema.version());
    json.put("id_type", schema.idType().name());
    ArrayNode fields = json.putArray("fields");
    for (Field field : schema.fields()) {
      ObjectNode entry = fields.addObject().put("field_id", field.fieldId());
      entry.put("name", field.name());
      switch (field) {
        case VectorField vector ->
            entry
                .put("vector", vector.type().name())
                .put("dimension", vector.dimension())
                .put("metric", vector.metric().name())
                .put("nullable", vector.nullable());
        case PayloadField payload -> entry.put("payload", payload.type().text());
      }
    }
    json.set("files", JsonSection.files(files));
    return NewFile.write(
        store,
        ShardFiles.segment(segmentId),
        new FrameHeader(FileKind.SEGMENT, segmentId, 0, rows),
        out -> JsonSection.write(out, JSON, json));
  }

  /** Reads and verifies the file of a segment. */
  static SegmentInfo read(FileStore store, UUID segmentId) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      Frame frame = Frame.map(store, ShardFiles.segment(segmentId), arena).verify();
      JsonSection json = JsonSection.read(frame, JSON);
      int rows = json.intNumber("rows", 0);
      frame.expect(new FrameHeader(FileKind.SEGMENT, segmentId, 0, rows));
      if (!json.uuid("segment_id").equals(segmentId)) {
        throw json.invalid("segment_id is not " + segmentId);
      }
      return new SegmentInfo(segmentId, rows, schema(json), json.files("files"));
    }
  }

  private static CollectionSchema schema(JsonSection json) throws IOException {
    List<Field> fields = new ArrayList<>();
    try {
      for (JsonSection entry : json.list("fields")) {
        int fieldId = entry.intNumber("field_id", 1);
        fields.add(
            entry.has("vector")
                ? new VectorField(
                    fieldId,
                    entry.text("name"),
                    VectorType.valueOf(entry.text("vector")),
                    entry.intNumber("dimension", 1),
                    Metric.valueOf(entry.text("metric")),
                    entry.bool("nullable"))
                : new PayloadField(
                    fieldId, entry.text("name"), PayloadType.parse(entry.text("payload"))));
      }
      return new CollectionSchema(
          json.intNumber("schema_version", 1), IdType.valueOf(json.text("id_type")), fields);
    } catch (IllegalArgumentException | SagittaException e) {
      throw json.invalid("schema: " + e.getMessage());
    }
  }
}
