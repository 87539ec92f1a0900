// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a DoPut stream answers, one object a message (docs/protocol.md, section 3): first {@link
 * Ready}, then one {@link Done} or {@link Failed} a batch in the order sent, at any time {@link
 * Rotate}.
 */
public sealed interface PutAck {

  /** Collection, schema and permission are right: batches may be sent. */
  record Ready() implements PutAck {}

  /** The node wants to go: open the stream elsewhere once what was sent has been answered. */
  record Rotate() implements PutAck {}

  /**
   * A batch, as its shards answered.
   *
   * @param seq the writer's number of the batch, where one was given
   * @param rows rows applied
   * @param shards what each shard did
   * @param rejects rows that were not applied, each with its reason
   * @param token for reads that must see this write; empty where nothing was applied
   */
  record Done(OptionalLong seq, int rows, List<ShardAck> shards, List<Reject> rejects, String token)
      implements PutAck {
    public Done {
      shards = List.copyOf(shards);
      rejects = List.copyOf(rejects);
    }
  }

  /** A batch that was refused as a whole; the stream ends with the same error. */
  record Failed(OptionalLong seq, SagittaException error) implements PutAck {}

  /**
   * What one shard did with its rows.
   *
   * @param shard its number
   * @param outcome {@code applied}, {@code replayed}, or the code of an error
   * @param index log index, or -1
   */
  record ShardAck(int shard, String outcome, long index) {}

  /** A row that was not applied. */
  record Reject(int row, ErrorCode code, String message) {}

  /** The JSON text. */
  default byte[] toJson() {
    return Commands.write(out -> Json.write(this, out));
  }

  /** Reads one message; keys that are not known are passed over, since servers may be newer. */
  static PutAck parse(byte[] json) {
    return Json.parse(json);
  }

  /** The codec. */
  final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    private static void write(PutAck ack, JsonGenerator out) throws IOException {
      out.writeStartObject();
      switch (ack) {
        case Ready ready -> out.writeBooleanField("ready", true);
        case Rotate rotate -> out.writeBooleanField("rotate", true);
        case Done done -> write(done, out);
        case Failed failed -> write(failed, out);
      }
      out.writeEndObject();
    }

    private static void write(Done done, JsonGenerator out) throws IOException {
      writeSeq(done.seq(), out);
      out.writeNumberField("rows", done.rows());
      out.writeArrayFieldStart("shards");
      for (ShardAck shard : done.shards()) {
        out.writeStartObject();
        out.writeNumberField("shard", shard.shard());
        out.writeStringField("outcome", shard.outcome());
        out.writeNumberField("index", shard.index());
        out.writeEndObject();
      }
      out.writeEndArray();
      out.writeArrayFieldStart("rejects");
      for (Reject reject : done.rejects()) {
        out.writeStartObject();
        out.writeNumberField("row", reject.row());
        out.writeStringField("code", reject.code().qualified());
        out.writeStringField("message", reject.message());
        out.writeEndObject();
      }
      out.writeEndArray();
      out.writeStringField("token", done.token());
    }

    private static void write(Failed failed, JsonGenerator out) throws IOException {
      writeSeq(failed.seq(), out);
      SagittaException error = failed.error();
      out.writeObjectFieldStart("error");
      out.writeStringField("code", error.code().qualified());
      out.writeStringField("message", error.getMessage());
      if (error.retryAfterMs().isPresent()) {
        out.writeNumberField("retry_after_ms", error.retryAfterMs().getAsLong());
      }
      out.writeEndObject();
    }

    private static void writeSeq(OptionalLong seq, JsonGenerator out) throws IOException {
      if (seq.isPresent()) {
        out.writeNumberField("seq", seq.getAsLong());
      }
    }

    private static PutAck parse(byte[] json) {
      JsonNode node;
      try {
        node = MAPPER.readTree(json);
      } catch (IOException e) {
        throw new SagittaException(ErrorCode.INTERNAL, "a put was answered by no JSON", e);
      }
      if (node.path("ready").asBoolean()) {
        return new Ready();
      }
      if (node.path("rotate").asBoolean()) {
        return new Rotate();
      }
      OptionalLong seq =
          node.has("seq") ? OptionalLong.of(node.get("seq").asLong()) : OptionalLong.empty();
      if (node.has("error")) {
        return new Failed(seq, error(node.get("error")));
      }
      return new Done(
          seq,
          node.path("rows").asInt(),
          shards(node.path("shards")),
          rejects(node.path("rejects")),
          node.path("token").asText());
    }

    private static SagittaException error(JsonNode node) {
      return new SagittaException(
          code(node.path("code").asText()).orElse(ErrorCode.INTERNAL),
          node.path("message").asText(),
          node.path("retry_after_ms").asLong(-1),
          null);
    }

    private static List<ShardAck> shards(JsonNode nodes) {
      List<ShardAck> shards = new ArrayList<>();
      for (JsonNode node : nodes) {
        shards.add(
            new ShardAck(
                node.path("shard").asInt(),
                node.path("outcome").asText(),
                node.path("index").asLong(-1)));
      }
      return shards;
    }

    private static List<Reject> rejects(JsonNode nodes) {
      List<Reject> rejects = new ArrayList<>();
      for (JsonNode node : nodes) {
        rejects.add(
            new Reject(
                node.path("row").asInt(),
                code(node.path("code").asText()).orElse(ErrorCode.INTERNAL),
                node.path("message").asText()));
      }
      return rejects;
    }

    private static Optional<ErrorCode> code(String text) {
      for (ErrorCode code : ErrorCode.values()) {
        if (text.equals(code.qualified()) || text.equals(code.name())) {
          return Optional.of(code);
        }
      }
      return Optional.empty();
    }
  }
}
