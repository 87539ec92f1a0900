// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Commands as JSON, both ways: what {@link #print} writes, {@link #parse} reads back as an equal
 * command. The text is described for people in {@code docs/protocol.md} and for tools in {@code
 * docs/protocol.schema.json}.
 */
public final class Commands {
  /** The verbs that travel as a ticket, a command descriptor or an HTTP body. */
  public static final List<String> VERBS =
      List.of(
          "search",
          "get",
          "scan",
          "put",
          "create",
          "drop",
          "describe",
          "verify",
          "count",
          "delete",
          "set",
          "unset",
          "open_writer",
          "status");

  /** The verbs that are Flight actions: each answers with one JSON object. */
  public static final List<String> ACTIONS =
      List.of(
          "create",
          "drop",
          "describe",
          "verify",
          "count",
          "delete",
          "set",
          "unset",
          "open_writer",
          "status");

  private static final JsonFactory FACTORY = new JsonFactory();

  private Commands() {}

  /** Whether bytes look like a JSON command: they begin with an opening brace. */
  public static boolean isJson(byte[] bytes) {
    return bytes.length > 0 && bytes[0] == '{';
  }

  /**
   * Parses {@code {"verb": {..}}}.
   *
   * @throws SagittaException INVALID_ARGUMENT naming key, value and what was expected; LIMIT where
   *     the text is too long
   */
  public static Command parse(byte[] json) {
    if (!isJson(json)) {
      throw SagittaException.invalid(
          json.length == 0
              ? "request is empty, expected a JSON object with one key, the verb"
              : String.format(
                  "request begins with byte 0x%02x, expected '{': a JSON object with one key, the"
                      + " verb",
                  json[0]));
    }
    try (StrictJson in = StrictJson.open(json, "")) {
      in.enter(VERBS);
      String verb = in.nextKey();
      if (verb == null) {
        throw SagittaException.invalid("request has no verb, expected one key of " + VERBS);
      }
      Command command = CommandReader.read(verb, in);
      String second = in.nextKey();
      if (second != null) {
        throw SagittaException.invalid(
            "request has two verbs, '" + verb + "' and '" + second + "', expected one");
      }
      in.end();
      return command;
    }
  }

  /**
   * Parses the inner object of a verb: an action's body, or an HTTP body. No bytes at all stand for
   * {@code {}}.
   *
   * @throws SagittaException INVALID_ARGUMENT or LIMIT as {@link #parse}; UNIMPLEMENTED for an
   *     unknown verb
   */
  public static Command parseBody(String verb, byte[] body) {
    if (!VERBS.contains(verb)) {
      throw unknownVerb(verb);
    }
    byte[] json = body.length == 0 ? new byte[] {'{', '}'} : body;
    try (StrictJson in = StrictJson.open(json, verb)) {
      Command command = CommandReader.read(verb, in);
      in.end();
      return command;
    }
  }

  private static SagittaException unknownVerb(String verb) {
    String hint =
        NearestName.of(verb, ACTIONS)
            .map(nearest -> "did you mean '" + nearest + "'?")
            .orElse("expected one of " + ACTIONS);
    return new SagittaException(
        ErrorCode.UNIMPLEMENTED, "unknown action " + Names.quote(verb) + ", " + hint);
  }

  /** The command as {@code {"verb": {..}}}, leaving out what is a default. */
  public static byte[] print(Command command) {
    return write(
        out -> {
          out.writeStartObject();
          out.writeFieldName(command.verb());
          CommandWriter.write(command, out);
          out.writeEndObject();
        });
  }

  /** The inner object alone: an action's body. */
  public static byte[] printBody(Command command) {
    return write(out -> CommandWriter.write(command, out));
  }

  /** Writes JSON text. */
  interface Body {
    void write(JsonGenerator out) throws IOException;
  }

  static byte[] write(Body body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator out = FACTORY.createGenerator(bytes)) {
      body.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return bytes.toByteArray();
  }
}
