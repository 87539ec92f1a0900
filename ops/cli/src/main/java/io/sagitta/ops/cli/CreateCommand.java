// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.JsonMistake;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Creates a collection. */
@Command(
    name = "create",
    description = "Creates a collection.",
    footer = {
      "",
      "Example:",
      "  sagitta ctl create films --field 'plot:float32[384]:cosine' --field year:int32"
    })
final class CreateCommand extends ClusterCommand {
  /**
   * name:type, name:type[dim], name:type[dim]:metric, then ? for nullable and @ with the storage.
   */
  private static final Pattern FIELD =
      Pattern.compile(
          "([^:]*):([a-z0-9<>]+)(?:\\[(\\d{1,9})](?::([a-z0-9]+))?(\\?)?(?:@([a-z0-9]+))?)?");

  @Parameters(paramLabel = "NAME", description = "The collection.")
  private String name;

  @ArgGroup(exclusive = true, multiplicity = "1")
  private Schema schema;

  @Option(names = "--id", paramLabel = "TYPE", description = "int64 (default), utf8 or uuid.")
  private String id;

  @Option(names = "--shards", paramLabel = "N", description = "Default: one a node, at most 16.")
  private Integer shards;

  @Option(names = "--replicas", paramLabel = "N|auto", description = "Default: auto.")
  private String replicas;

  /** Where fields come from. */
  private static final class Schema {
    @Option(
        names = "--field",
        paramLabel = "FIELD",
        description = {
          "A field: NAME:TYPE[DIM]:METRIC for vectors (a ? after it: may be null; then @memory: full"
              + " vectors are kept in memory), NAME:TYPE for payload. Repeatable.",
          "Vectors: float32 float16 bfloat16 int8 uint8 binary; cosine dot l2 hamming.",
          "Payload: bool int8..int64 uint8..uint64 float32 float64 utf8 binary date timestamp uuid"
              + " geo json, list<..>."
        })
    private List<String> fields;

    @Option(
        names = "--body",
        paramLabel = "JSON",
        description = "The request's own JSON: {\"id\": .., \"fields\": [..]}.")
    private String body;
  }

  @Override
  int run(Connection connection, Printer printer) {
    ObjectNode body = schema.body == null ? fieldsBody() : jsonBody(schema.body);
    body.put("collection", name);
    if (id != null) {
      body.put("id", id);
    }
    if (shards != null) {
      body.put("shards", shards);
    }
    if (replicas != null) {
      body.set("replicas", FilterOptions.value(replicas));
    }
    JsonNode answer = connection.act(request("create", body));
    printer.done("created " + name, answer);
    return 0;
  }

  private ObjectNode fieldsBody() {
    ObjectNode body = JSON.objectNode();
    ArrayNode array = body.putArray("fields");
    schema.fields.forEach(field -> array.add(field(field)));
    return body;
  }

  private static ObjectNode field(String text) {
    Matcher matcher = FIELD.matcher(text);
    if (!matcher.matches()) {
      throw SagittaException.invalid(
          "--field '" + text + "' is not NAME:TYPE or NAME:TYPE[DIM]:METRIC");
    }
    ObjectNode field =
        JSON.objectNode().put("name", matcher.group(1)).put("type", matcher.group(2));
    if (matcher.group(3) != null) {
      field.put("dim", Long.parseLong(matcher.group(3)));
    }
    if (matcher.group(4) != null) {
      field.put("metric", matcher.group(4));
    }
    if (matcher.group(5) != null) {
      field.put("nullable", true);
    }
    if (matcher.group(6) != null) {
      field.put("storage", matcher.group(6));
    }
    return field;
  }

  private static ObjectNode jsonBody(String text) {
    try {
      if (FilterOptions.EXACT.readTree(text) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "--body is not JSON: " + JsonMistake.describe(e), e);
    }
    throw SagittaException.invalid("--body is not a JSON object");
  }
}
