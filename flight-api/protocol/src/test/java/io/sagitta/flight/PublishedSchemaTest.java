// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorStorage;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code docs/protocol.schema.json} says what the parser does. */
class PublishedSchemaTest {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final JsonNode SCHEMA = read();
  private static final SchemaCheck CHECK = new SchemaCheck(SCHEMA);

  private static JsonNode read() {
    try (InputStream in = Commands.class.getResourceAsStream("protocol.schema.json")) {
      return MAPPER.readTree(in);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> keys(JsonNode object) {
    List<String> keys = new ArrayList<>();
    object.fieldNames().forEachRemaining(keys::add);
    return keys;
  }

  private static JsonNode verb(String verb) {
    return SCHEMA.at("/$defs/verb_" + verb);
  }

  private static JsonNode property(String verb, String key) {
    return verb(verb).at("/properties/" + key);
  }

  @Test
  void itHasTheParsersVerbsAndKeys() {
    assertThat(keys(SCHEMA.get("properties"))).containsExactlyInAnyOrderElementsOf(Commands.VERBS);
    Map<String, List<String>> known =
        Map.ofEntries(
            Map.entry("search", CommandReader.SEARCH_KEYS),
            Map.entry("get", CommandReader.GET_KEYS),
            Map.entry("scan", CommandReader.SCAN_KEYS),
            Map.entry("put", CommandReader.PUT_KEYS),
            Map.entry("create", SchemaJson.CREATE_KEYS),
            Map.entry("drop", CommandReader.COLLECTION_KEYS),
            Map.entry("describe", CommandReader.COLLECTION_KEYS),
            Map.entry("verify", CommandReader.COLLECTION_KEYS),
            Map.entry("count", CommandReader.COUNT_KEYS),
            Map.entry("delete", CommandReader.DELETE_KEYS),
            Map.entry("set", CommandReader.SET_KEYS),
            Map.entry("unset", CommandReader.UNSET_KEYS),
            Map.entry("open_writer", CommandReader.OPEN_WRITER_KEYS),
            Map.entry("status", CommandReader.STATUS_KEYS));
    assertThat(known.keySet()).containsExactlyInAnyOrderElementsOf(Commands.VERBS);
    known.forEach(
        (verb, expected) ->
            assertThat(keys(verb(verb).get("properties")))
                .as(verb)
                .containsExactlyInAnyOrderElementsOf(expected));
    assertThat(keys(SCHEMA.at("/$defs/field/properties")))
        .containsExactlyInAnyOrderElementsOf(SchemaJson.FIELD_KEYS);
  }

  @Test
  void itHasTheParsersLimitsAndNames() {
    assertThat(property("search", "k").get("maximum").intValue()).isEqualTo(RequestLimits.HITS_MAX);
    assertThat(property("search", "ef").get("maximum").intValue()).isEqualTo(RequestLimits.EF_MAX);
    assertThat(property("search", "group_size").get("maximum").intValue())
        .isEqualTo(RequestLimits.HITS_MAX);
    assertThat(property("search", "vectors").get("maxItems").intValue())
        .isEqualTo(RequestLimits.QUERIES_MAX);
    assertThat(property("search", "timeout_ms").get("maximum").longValue())
        .isEqualTo(RequestLimits.TIMEOUT_MS_MAX);
    assertThat(property("count", "max_staleness_ms").get("maximum").longValue())
        .isEqualTo(RequestLimits.STALENESS_MS_MAX);
    assertThat(property("create", "shards").get("maximum").intValue())
        .isEqualTo(RequestLimits.SHARDS_MAX);
    assertThat(property("create", "replicas").at("/anyOf/0/maximum").intValue())
        .isEqualTo(RequestLimits.REPLICAS_MAX);
    assertThat(property("create", "fields").get("maxItems").intValue())
        .isEqualTo(CollectionSchema.FIELDS_MAX);
    assertThat(SCHEMA.at("/$defs/ids/maxItems").intValue()).isEqualTo(RequestLimits.IDS_MAX);
    assertThat(SCHEMA.at("/$defs/fields/maxItems").intValue()).isEqualTo(RequestLimits.FIELDS_MAX);
    assertThat(SCHEMA.at("/$defs/params/maxItems").intValue()).isEqualTo(RequestLimits.PARAMS_MAX);
    assertThat(SCHEMA.at("/$defs/vector/maxItems").intValue())
        .isEqualTo(VectorField.DIMENSION_BITS_MAX);
    assertNames(property("put", "mode").get("enum"), StrictJson.names(WriteMode.class));
    assertNames(property("create", "id").get("enum"), StrictJson.names(IdType.class));
    assertNames(
        SCHEMA.at("/$defs/consistency/enum"), StrictJson.names(Command.Consistency.Level.class));
    assertNames(SCHEMA.at("/$defs/field/properties/metric/enum"), StrictJson.names(Metric.class));
    assertNames(
        SCHEMA.at("/$defs/field/properties/storage/enum"), StrictJson.names(VectorStorage.class));
    assertNames(
        SCHEMA.at("/$defs/field/then/properties/type/enum"), StrictJson.names(VectorType.class));
  }

  private static void assertNames(JsonNode found, List<String> expected) {
    assertThat(found).extracting(JsonNode::textValue).containsExactlyElementsOf(expected);
  }

  @Test
  void itKnowsEveryPayloadType() throws IOException {
    for (PayloadType.Kind kind : PayloadType.Kind.values()) {
      for (PayloadType type : List.of(PayloadType.of(kind), PayloadType.listOf(kind))) {
        String json =
            "{'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':1},"
                + "{'name':'p','type':'"
                + type.text()
                + "'}]}}";
        assertThat(CHECK.accepts(tree(json))).as(type.text()).isTrue();
      }
    }
  }

  private static JsonNode tree(String json) throws IOException {
    return MAPPER.readTree(json.replace('\'', '"'));
  }

  static List<Command> commands() {
    return CommandsTest.commands();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void itAcceptsWhatThePrinterWrites(Command command) throws IOException {
    assertThat(CHECK.accepts(MAPPER.readTree(Commands.print(command)))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'serch':{}}",
        "{'status':{},'describe':{'collection':'c'}}",
        "{'search':{'collection':'c'}}",
        "{'search':{'vector':[1]}}",
        "{'search':{'collection':'c','vector':[1],'like':1}}",
        "{'search':{'collection':'c','vector':[]}}",
        "{'search':{'collection':'c','vectors':[]}}",
        "{'search':{'collection':'c','vector':[1,'a']}}",
        "{'search':{'collection':'c','vector':[1],'k':0}}",
        "{'search':{'collection':'c','vector':[1],'k':10001}}",
        "{'search':{'collection':'c','vector':[1],'k':1.5}}",
        "{'search':{'collection':'c','vector':[1],'recall':0}}",
        "{'search':{'collection':'c','vector':[1],'max_distance':-1}}",
        "{'search':{'collection':'c','vector':[1],'params':[1]}}",
        "{'search':{'collection':'c','vector':[1],'group_size':2}}",
        "{'search':{'collection':'c','vector':[1],'group_by':'g','group_size':0}}",
        "{'search':{'collection':'c','vector':[1],'group_by':7}}",
        "{'search':{'collection':'c','vector':[1],'token':'t'}}",
        "{'search':{'collection':'c','vector':[1],'consistency':'session'}}",
        "{'search':{'collection':'c','vector':[1],'consistency':'bounded'}}",
        "{'search':{'collection':'c','vector':[1],'fields':['a','a']}}",
        "{'search':{'collection':'C','vector':[1]}}",
        "{'search':{'collection':null,'vector':[1]}}",
        "{'get':{'collection':'c'}}",
        "{'get':{'collection':'c','ids':[1.5]}}",
        "{'scan':{'collection':'c','limit':0}}",
        "{'put':{'collection':'c','mode':'merge'}}",
        "{'put':{'collection':'c','consistency':'any'}}",
        "{'put':{'collection':'c','create':{'id':'utf8'}}}",
        "{'put':{'collection':'c','create':{'fields':[]}}}",
        "{'create':{'collection':'c','fields':[]}}",
        "{'create':{'collection':'c','fields':[{'name':'p','type':'utf8'}]}}",
        "{'create':{'collection':'c','fields':[{'name':'v','type':'utf8','dim':3}]}}",
        "{'create':{'collection':'c','fields':[{'name':'_v','type':'float32','dim':3}]}}",
        "{'create':{'collection':'c','fields':[{'name':'id','type':'float32','dim':3}]}}",
        "{'create':{'collection':'c','replicas':0,'fields':[{'name':'v','type':'int8','dim':3}]}}",
        "{'delete':{'collection':'c'}}",
        "{'set':{'collection':'c','values':{'a':1}}}",
        "{'set':{'collection':'c','ids':[1],'filter':'a','values':{'a':1}}}",
        "{'set':{'collection':'c','ids':[1],'values':{}}}",
        "{'unset':{'collection':'c','ids':[1]}}",
        "{'open_writer':{'after':-1}}",
        "{'status':{'verbose':true}}"
      })
  void whatItRefusesTheParserRefusesToo(String json) throws IOException {
    assertThat(CHECK.accepts(tree(json))).as("the schema").isFalse();
    byte[] bytes = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> Commands.parse(bytes)).isInstanceOf(SagittaException.class);
  }
}
