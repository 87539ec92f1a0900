// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.shard.CheckpointFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * The JSON in small files: readable by a person, keys in the order in which they are put, so that
 * the same content gives the same bytes. Reading names the file and the key of whatever is missing
 * or of another type.
 */
final class JsonSection {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final String file;
  private final JsonNode node;

  private JsonSection(String file, JsonNode node) {
    this.file = file;
    this.node = node;
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Writes an object as the whole of a section. */
  static void write(FrameWriter out, int section, ObjectNode object) throws IOException {
    out.section(section);
    out.write(
        MemorySegment.ofArray(MAPPER.writeValueAsString(object).getBytes(StandardCharsets.UTF_8)));
  }

  /** Reads the object that fills a section of a verified frame. */
  static JsonSection read(Frame frame, int section) throws IOException {
    byte[] bytes = frame.section(section).toArray(ValueLayout.JAVA_BYTE);
    try {
      return new JsonSection(frame.name(), MAPPER.readTree(bytes));
    } catch (JsonProcessingException e) {
      throw corrupt(frame.name(), "section " + section + " is not JSON: " + e.getOriginalMessage());
    }
  }

  static ArrayNode files(List<CheckpointFile> files) {
    ArrayNode array = MAPPER.createArrayNode();
    for (CheckpointFile file : files) {
      array
          .addObject()
          .put("name", file.name())
          .put("length", file.length())
          .put("crc32c", ShardFiles.hex(file.checksum()));
    }
    return array;
  }

  /** The files under {@code key}; each has a name that a manifest may hold. */
  List<CheckpointFile> files(String key) throws IOException {
    List<CheckpointFile> files = new ArrayList<>();
    for (JsonSection entry : list(key)) {
      String name = entry.text("name");
      if (!ShardFiles.isCheckpointFile(name)) {
        throw corrupt(file, "a file of a checkpoint cannot have this name");
      }
      String checksum = entry.text("crc32c");
      if (!checksum.matches("[0-9a-f]{8}")) {
        throw corrupt(file, "crc32c of " + name + " is not eight hexadecimal digits");
      }
      files.add(
          new CheckpointFile(
              name, entry.number("length", 0, Long.MAX_VALUE), HexFormat.fromHexDigits(checksum)));
    }
    return files;
  }

  boolean has(String key) {
    return node.has(key);
  }

  long number(String key, long min, long max) throws IOException {
    JsonNode value = node.get(key);
    if (value == null || !value.isIntegralNumber() || !value.canConvertToLong()) {
      throw corrupt(file, key + " is not a whole number");
    }
    if (value.longValue() < min || value.longValue() > max) {
      throw corrupt(file, "%s is %s, expected %d..%d".formatted(key, value, min, max));
    }
    return value.longValue();
  }

  int intNumber(String key, int min) throws IOException {
    return (int) number(key, min, Integer.MAX_VALUE);
  }

  boolean bool(String key) throws IOException {
    JsonNode value = node.get(key);
    if (value == null || !value.isBoolean()) {
      throw corrupt(file, key + " is not true or false");
    }
    return value.booleanValue();
  }

  String text(String key) throws IOException {
    JsonNode value = node.get(key);
    if (value == null || !value.isTextual()) {
      throw corrupt(file, key + " is not a text");
    }
    return value.textValue();
  }

  UUID uuid(String key) throws IOException {
    String text = text(key);
    try {
      UUID uuid = UUID.fromString(text);
      if (uuid.toString().equals(text)) {
        return uuid;
      }
    } catch (IllegalArgumentException e) {
      // As below.
    }
    throw corrupt(file, key + " is not a lower-case UUID");
  }

  List<JsonSection> list(String key) throws IOException {
    JsonNode value = node.get(key);
    if (value == null || !value.isArray()) {
      throw corrupt(file, key + " is not a list");
    }
    List<JsonSection> entries = new ArrayList<>();
    value.forEach(entry -> entries.add(new JsonSection(file, entry)));
    return entries;
  }

  CorruptFileException invalid(String what) {
    return corrupt(file, what);
  }

  private static CorruptFileException corrupt(String file, String what) {
    return new CorruptFileException(file, FrameLayout.HEADER_BYTES, what);
  }
}
