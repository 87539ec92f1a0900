// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileOutput;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * A checkpoint: the shard's state at one log position, and every file it consists of.
 *
 * @param generation grows with each manifest of a directory; the newest valid one counts
 * @param term term of the last entry it holds
 * @param logIndex log index of that entry
 * @param stateVersion format of {@code state}, the engine's own
 * @param state schema, slots, epoch, version base, horizon, state time: opaque here
 * @param segments the segments, oldest first
 * @param sessionsIndex log index in the name of the {@link SessionsFile}, where there is one
 * @param files every file but the manifest itself
 */
public record Manifest(
    long generation,
    long term,
    long logIndex,
    int stateVersion,
    byte[] state,
    List<SegmentRef> segments,
    OptionalLong sessionsIndex,
    List<CheckpointFile> files) {
  private static final int JSON = 1;
  private static final int STATE = 2;

  public Manifest {
    segments = List.copyOf(segments);
    files = List.copyOf(files);
  }

  /**
   * A segment of a checkpoint.
   *
   * @param segmentId its id
   * @param rows its rows, dead ones too
   * @param livesIndex log index in the name of its {@link LivesFile}; absent: all rows live
   */
  public record SegmentRef(UUID segmentId, int rows, OptionalLong livesIndex) {}

  /** The same checkpoint as another generation. */
  public Manifest withGeneration(long generation) {
    return new Manifest(
        generation, term, logIndex, stateVersion, state, segments, sessionsIndex, files);
  }

  /** The manifest as a file: what lies on disk and what an install announces. */
  public byte[] toBytes() {
    Bytes bytes = new Bytes();
    try (FrameWriter out =
        new FrameWriter(bytes, FrameHeader.ofShard(FileKind.MANIFEST, generation))) {
      JsonSection.write(out, JSON, json());
      out.section(STATE);
      out.write(MemorySegment.ofArray(state));
      out.finish();
    } catch (IOException e) {
      throw new AssertionError("memory does not fail", e);
    }
    return bytes.out.toByteArray();
  }

  /**
   * Reads what {@link #toBytes} made, every byte checked.
   *
   * @param where the file's name or another origin, for messages
   */
  public static Manifest fromBytes(byte[] bytes, String where) throws IOException {
    Frame frame = Frame.of(where, MemorySegment.ofArray(bytes)).verify();
    JsonSection json = JsonSection.read(frame, JSON);
    long generation = json.number("generation", 0, Long.MAX_VALUE);
    frame.expect(FrameHeader.ofShard(FileKind.MANIFEST, generation));
    List<SegmentRef> segments = new ArrayList<>();
    for (JsonSection entry : json.list("segments")) {
      segments.add(
          new SegmentRef(
              entry.uuid("segment_id"), entry.intNumber("rows", 0), optional(entry, "lives")));
    }
    Manifest manifest =
        new Manifest(
            generation,
            json.number("term", Long.MIN_VALUE, Long.MAX_VALUE),
            json.number("log_index", Long.MIN_VALUE, Long.MAX_VALUE),
            json.intNumber("state_version", 0),
            frame.section(STATE).toArray(ValueLayout.JAVA_BYTE),
            segments,
            optional(json, "sessions"),
            json.files("files"));
    manifest.checkNames(json);
    return manifest;
  }

  /** Whether the checkpoint has a file of this name. */
  boolean names(String name) {
    return files.stream().anyMatch(file -> file.name().equals(name));
  }

  private ObjectNode json() {
    ObjectNode json = JsonSection.object();
    json.put("generation", generation);
    json.put("term", term);
    json.put("log_index", logIndex);
    json.put("state_version", stateVersion);
    ArrayNode list = json.putArray("segments");
    for (SegmentRef segment : segments) {
      ObjectNode entry = list.addObject().put("segment_id", segment.segmentId.toString());
      entry.put("rows", segment.rows);
      segment.livesIndex.ifPresent(index -> entry.put("lives", index));
    }
    sessionsIndex.ifPresent(index -> json.put("sessions", index));
    json.set("files", JsonSection.files(files));
    return json;
  }

  private static OptionalLong optional(JsonSection json, String key) throws IOException {
    return json.has(key)
        ? OptionalLong.of(json.number(key, 0, Long.MAX_VALUE))
        : OptionalLong.empty();
  }

  /** Every file that segments and sessions need is listed, and none twice. */
  private void checkNames(JsonSection json) throws IOException {
    Set<String> listed = new HashSet<>();
    for (CheckpointFile file : files) {
      if (!listed.add(file.name())) {
        throw json.invalid(file.name() + " is listed twice");
      }
    }
    List<String> needed = new ArrayList<>();
    for (SegmentRef segment : segments) {
      needed.add(ShardFiles.segment(segment.segmentId));
      segment.livesIndex.ifPresent(index -> needed.add(ShardFiles.lives(segment.segmentId, index)));
    }
    sessionsIndex.ifPresent(index -> needed.add(ShardFiles.sessions(index)));
    for (String name : needed) {
      if (!listed.contains(name)) {
        throw json.invalid(name + " is not among the files");
      }
    }
  }

  private static final class Bytes implements FileOutput {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @Override
    public void write(ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.get(copy);
      out.writeBytes(copy);
    }

    @Override
    public long length() {
      return out.size();
    }

    @Override
    public void sync() {}

    @Override
    public void close() {}
  }
}
