// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.Command.Consistency;
import io.sagitta.flight.Command.Consistency.Level;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.Command.IdText;
import io.sagitta.flight.Command.Query;
import io.sagitta.it.testkit.Seed;
import io.sagitta.it.testkit.Seeded;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.IdType;
import io.sagitta.model.Metric;
import io.sagitta.model.PayloadField;
import io.sagitta.model.PayloadType;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardRead.Effort;
import io.sagitta.model.VectorField;
import io.sagitta.model.VectorType;
import io.sagitta.model.WriteMode;
import io.sagitta.model.WriterId;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandsTest {
  static final CollectionSchema SCHEMA =
      new CollectionSchema(
          1,
          IdType.UUID,
          List.of(
              new VectorField(1, "embedding", VectorType.FLOAT32, 384, Metric.COSINE, false),
              new VectorField(2, "bits", VectorType.BINARY, 1_001, Metric.HAMMING, true),
              new PayloadField(3, "year", PayloadType.of(PayloadType.Kind.INT64)),
              new PayloadField(4, "tags", PayloadType.listOf(PayloadType.Kind.UTF8))));

  /** One of every verb, with every key set somewhere. */
  static List<Command> commands() {
    Optional<FilterText> filter =
        Optional.of(
            new FilterText(
                "x = $1 AND y IN $2",
                Arrays.asList(
                    9007199254740993L,
                    Arrays.asList("a", null, true, new BigInteger("18446744073709551615")),
                    new BigDecimal("0.1"),
                    null)));
    CreateSpec spec = new CreateSpec("c", SCHEMA, OptionalInt.of(4), OptionalInt.of(3));
    return List.of(
        search(new Query.Like(new IdText("it's", true)), new Effort.Ef(65_536), filter),
        search(
            new Query.Like(new IdText("-9223372036854775808", false)), new Effort.Exact(), filter),
        grouped(search(new Query.Like(new IdText("x", true)), new Effort.Exact(), filter)),
        new Command.Get(
            "c",
            List.of(new IdText("1", false), new IdText("1", true)),
            Optional.of(List.of()),
            new Consistency(Level.SESSION, Optional.of("t"), OptionalLong.empty())),
        new Command.Scan(
            "c",
            filter,
            Optional.of(List.of("year")),
            Optional.of("cursor"),
            OptionalInt.of(Integer.MAX_VALUE),
            new Consistency(Level.BOUNDED, Optional.empty(), OptionalLong.of(100)),
            OptionalInt.of(3)),
        new Command.Put(
            "c", WriteMode.DELETE, Optional.of(new WriterId(new UUID(1, 2), 3)), Optional.of(spec)),
        new Command.Put("c", WriteMode.UPSERT, Optional.empty(), Optional.empty()),
        new Command.Put(
            "c",
            WriteMode.UPSERT,
            Optional.empty(),
            Optional.of(
                new CreateSpec(
                    "c",
                    new CollectionSchema(1, IdType.INT64, List.of()),
                    OptionalInt.empty(),
                    OptionalInt.empty()))),
        new Command.Create(spec),
        new Command.Create(new CreateSpec("c", SCHEMA, OptionalInt.empty(), OptionalInt.empty())),
        new Command.Drop("c"),
        new Command.Describe("c"),
        new Command.Verify("c"),
        new Command.Count("c", filter, Consistency.STRONG),
        new Command.Count(
            "c",
            Optional.empty(),
            new Consistency(Level.ANY, Optional.empty(), OptionalLong.empty())),
        new Command.Delete("c", new FilterText("true", List.of())),
        new Command.SetPayload(
            "c",
            filter,
            Optional.empty(),
            Map.of("year", 2L, "tags", List.of("a"), "doc", Map.of("k", new BigDecimal("1.50")))),
        new Command.UnsetPayload(
            "c", Optional.empty(), Optional.of(List.of(new IdText("7", false))), List.of("year")),
        new Command.OpenWriter(OptionalLong.of(7)),
        new Command.OpenWriter(OptionalLong.empty()),
        new Command.Status());
  }

  private static Command.Search search(Query query, Effort effort, Optional<FilterText> filter) {
    return new Command.Search(
        "c",
        Optional.of("embedding"),
        query,
        9_000,
        1_000,
        filter,
        effort,
        OptionalDouble.of(0.25),
        OptionalDouble.empty(),
        Optional.of(List.of("year", "tags")),
        Consistency.STRONG,
        true,
        OptionalLong.of(1),
        true,
        Optional.empty());
  }

  private static Command.Search grouped(Command.Search s) {
    return new Command.Search(
        s.collection(),
        s.field(),
        s.query(),
        30,
        20,
        s.filter(),
        s.effort(),
        s.minScore(),
        s.maxDistance(),
        s.fields(),
        s.consistency(),
        s.partial(),
        s.timeoutMs(),
        s.explain(),
        Optional.of(new Command.GroupBy("year", 200)));
  }

  @Test
  void aGroupHasOneHitUnlessMoreAreAskedForWithinTheLimit() {
    String head = "{'search':{'collection':'c','vector':[1],";
    assertThat(((Command.Search) parse(head + "'group_by':'year'}}")).groupBy())
        .contains(new Command.GroupBy("year", 1));
    assertThatThrownBy(() -> parse(head + "'group_size':2}}"))
        .hasMessageContaining("'group_size' is given without 'group_by'");
    assertThatThrownBy(() -> parse(head + "'group_by':'year','group_size':0}}"))
        .hasMessageContaining("1 to 10000");
    assertThatThrownBy(
            () -> parse(head + "'group_by':'year','group_size':100,'k':60,'offset':41}}"))
        .hasMessageContaining("(offset + k) * group_size is 10100, expected at most 10000");
    assertThatThrownBy(() -> parse(head + "'groupby':'year'}}")).hasMessageContaining("group_by");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void whatIsPrintedParsesToAnEqualCommand(Command command) {
    assertThat(Commands.parse(Commands.print(command))).isEqualTo(command);
    assertThat(Commands.parseBody(command.verb(), Commands.printBody(command))).isEqualTo(command);
  }

  @Test
  void everyVerbHasAnExampleHere() {
    assertThat(commands().stream().map(Command::verb).distinct())
        .containsExactlyInAnyOrderElementsOf(Commands.VERBS);
  }

  @Seeded
  @Test
  void vectorsComeBackBitForBit(Seed seed) {
    RandomGenerator random = seed.random();
    float[][] rows = new float[3][100];
    for (float[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        do {
          row[i] = Float.intBitsToFloat(random.nextInt());
        } while (!Float.isFinite(row[i]));
      }
    }
    rows[0][0] = -0f;
    rows[0][1] = Float.MIN_VALUE;
    rows[0][2] = Float.MAX_VALUE;
    for (float[][] some : List.of(rows, new float[][] {rows[1]})) {
      Command.Search printed =
          search(new Query.Vectors(some), new Effort.Exact(), Optional.empty());
      Command.Search parsed = (Command.Search) Commands.parse(Commands.print(printed));
      assertThat(((Query.Vectors) parsed.query()).rows()).isDeepEqualTo(some);
      byte[] packed = pack(some);
      printed = search(new Query.PackedVectors(packed), new Effort.Exact(), Optional.empty());
      parsed = (Command.Search) Commands.parse(Commands.print(printed));
      assertThat(((Query.PackedVectors) parsed.query()).littleEndian()).isEqualTo(packed);
    }
  }

  private static byte[] pack(float[][] rows) {
    ByteBuffer out =
        ByteBuffer.allocate(rows.length * rows[0].length * 4).order(ByteOrder.LITTLE_ENDIAN);
    for (float[] row : rows) {
      for (float value : row) {
        out.putFloat(value);
      }
    }
    return out.array();
  }

  @Test
  void aSearchThatSaysLittleGetsTheDefaults() {
    Command.Search search = (Command.Search) parse("{'search':{'collection':'c','vector':[1,2]}}");
    assertThat(search.k()).isEqualTo(10);
    assertThat(search.offset()).isZero();
    assertThat(search.effort()).isEqualTo(new Effort.Recall(0.95));
    assertThat(search.consistency()).isEqualTo(Consistency.STRONG);
    assertThat(search.fields()).isEmpty();
    assertThat(search.partial()).isFalse();
    assertThat(((Query.Vectors) search.query()).rows()).isDeepEqualTo(new float[][] {{1, 2}});
  }

  @Test
  void integersOfParametersAndIdsAreExact() {
    Command.Get get =
        (Command.Get) parse("{'get':{'collection':'c','ids':[9007199254740993,'x',-1]}}");
    assertThat(get.ids())
        .containsExactly(
            new IdText("9007199254740993", false), new IdText("x", true), new IdText("-1", false));
    Command.Count count =
        (Command.Count)
            parse(
                "{'count':{'collection':'c','filter':'a=$1','params':[9007199254740993,"
                    + "18446744073709551615,0.1,1e2,[1,null]]}}");
    assertThat(count.filter().orElseThrow().params())
        .containsExactly(
            9007199254740993L,
            new BigInteger("18446744073709551615"),
            new BigDecimal("0.1"),
            new BigDecimal("1e2"),
            Arrays.asList(1L, null));
  }

  @Test
  void aPutThatCreatesMayLeaveTheFieldsToItsColumns() {
    Command.Put put =
        (Command.Put) parse("{'put':{'collection':'c','create':{'shards':3,'replicas':1}}}");
    Command.CreateSpec spec = put.create().orElseThrow();
    assertThat(spec.collection()).isEqualTo("c");
    assertThat(spec.schema().fields()).isEmpty();
    assertThat(spec.shards()).hasValue(3);
    assertThat(Commands.parse(Commands.print(put))).isEqualTo(put);
  }

  @Test
  void aFieldWithADimensionIsAVectorFieldAndHasAFittingMetric() {
    Command.Create create =
        (Command.Create)
            parse(
                "{'create':{'collection':'c','fields':[{'name':'a','type':'float16','dim':4},"
                    + "{'name':'b','type':'uint8','dim':4},{'name':'c','type':'binary','dim':9},"
                    + "{'name':'d','type':'float32'},{'name':'e','type':'binary'},"
                    + "{'name':'f','type':'float32','dim':2,'metric':'dot','nullable':true}],"
                    + "'replicas':'auto'}}");
    assertThat(create.spec().schema().idType()).isEqualTo(IdType.INT64);
    assertThat(create.spec().replicas()).isEmpty();
    assertThat(create.spec().schema().fields())
        .containsExactly(
            new VectorField(1, "a", VectorType.FLOAT16, 4, Metric.COSINE, false),
            new VectorField(2, "b", VectorType.UINT8, 4, Metric.L2, false),
            new VectorField(3, "c", VectorType.BINARY, 9, Metric.HAMMING, false),
            new PayloadField(4, "d", PayloadType.of(PayloadType.Kind.FLOAT32)),
            new PayloadField(5, "e", PayloadType.of(PayloadType.Kind.BINARY)),
            new VectorField(6, "f", VectorType.FLOAT32, 2, Metric.DOT, true));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'search':{'collection':'c','vector':[1],'k':0}} | 'search.k' is 0, expected an integer from 1 to 10000
          {'search':{'collection':'c','vector':[1],'k':-1}} | 'search.k' is -1, expected an integer from 1 to 10000
          {'search':{'collection':'c','vector':[1],'k':2147483647}} | from 1 to 10000
          {'search':{'collection':'c','vector':[1],'k':9223372036854775807}} | from 1 to 10000
          {'search':{'collection':'c','vector':[1],'k':9223372036854775808}} | from 1 to 10000
          {'search':{'collection':'c','vector':[1],'k':1.5}} | 'search.k' is 1.5, expected an integer
          {'search':{'collection':'c','vector':[1],'k':'ten'}} | 'search.k' is 'ten', expected an integer
          {'search':{'collection':'c','vector':[1],'offset':1,'k':9223372036854775807}} | from 1 to 10000
          {'search':{'collection':'c','vector':[1],'offset':9999,'k':2}} | offset + k is 10001, expected at most 10000
          {'search':{'collection':'c','vector':[1],'ef':2147483647}} | 'search.ef' is 2147483647, expected an integer from 1 to 65536
          {'search':{'collection':'c','vector':[1],'recall':0}} | above 0, at most 1
          {'search':{'collection':'c','vector':[1],'recall':1.01}} | above 0, at most 1
          {'search':{'collection':'c','vector':[1],'recall':1e999}} | above 0, at most 1
          {'search':{'collection':'c','vector':[1],'recall':0.9,'ef':3}} | 'recall' is given too
          {'search':{'collection':'c','vector':[1],'ef':3,'exact':true}} | 'ef' is given too
          {'search':{'collection':'c','vector':[1],'like':3}} | 'vector' is given too
          {'search':{'collection':'c'}} | one of the keys [vector, vectors, vector_f32, like] is missing
          {'search':{'vector':[1]}} | key 'collection' is missing
          {'search':{'collection':'c','vector':[]}} | at least one component
          {'search':{'collection':'c','vector':[1,'a']}} | a number as component 1 of vector 0
          {'search':{'collection':'c','vector':[1e39]}} | a finite float32 as component 0
          {'search':{'collection':'c','vectors':[[1,2],[1]]}} | vector 1 has 1 components, expected 2
          {'search':{'collection':'c','vectors':[]}} | at least one vector
          {'search':{'collection':'c','vector_f32':'AAA='}} | a positive multiple of 4
          {'search':{'collection':'c','vector_f32':'AADAfw=='}} | component 0 is NaN
          {'search':{'collection':'c','vector_f32':'%%'}} | is not base64
          {'search':{'collection':'c','vector':[1],'vector':[1]}} | Duplicate
          {'search':{'collection':'c','vector':[1],'colection':'d'}} | unknown key 'search.colection', did you mean 'collection'?
          {'search':{'collection':'c','vector':[1],'top_k':3}} | unknown key 'search.top_k'
          {'search':{'collection':'c','vector':[1],'params':[1]}} | 'params' without 'filter'
          {'search':{'collection':'c','vector':[1],'min_score':1,'max_distance':1}} | both given
          {'search':{'collection':'c','vector':[1],'max_distance':-1}} | at least 0
          {'search':{'collection':'c','vector':[1],'fields':['a','a']}} | each name once
          {'search':{'collection':'c','vector':[1],'consistency':'session'}} | 'token'
          {'search':{'collection':'c','vector':[1],'token':'t'}} | go together
          {'search':{'collection':'c','vector':[1],'consistency':'bounded'}} | 'max_staleness_ms'
          {'search':{'collection':'c','vector':[1],'consistency':'eventual'}} | one of [strong, session, bounded, any]
          {'search':{'collection':'../x','vector':[1]}} | [a-z0-9][a-z0-9_-]{0,62}
          {'search':{'collection':null,'vector':[1]}} | 'search.collection' is null, expected a string
          {'search':{'collection':'c','vector':[1]},'get':{}} | two verbs
          {'search':{'collection':'c','vector':[1]}} x | malformed JSON
          {'serch':{}} | did you mean 'search'?
          {} | no verb
          {'search':[]} | 'search' is an array, expected an object
          {'search':{'collection':'c','vector':[1] | malformed JSON
          {'get':{'collection':'c'}} | key 'ids' is missing
          {'get':{'collection':'c','ids':[1.5]}} | an integer or a string
          {'count':{'collection':'c','filter':'a=$1','params':[[[1]]]}} | is an array
          {'scan':{'collection':'c','limit':0}} | from 1 to 2147483647
          {'put':{'collection':'c','mode':'merge'}} | one of [upsert, insert, update, delete]
          {'put':{'collection':'c','writer':'w'}} | the text given by open_writer
          {'put':{'collection':'c','consistency':'any'}} | always
          {'put':{'collection':'c','create':{'collection':'d','fields':[{'name':'v','type':'float32','dim':1}]}}} | expected 'c'
          {'put':{'collection':'c','create':{'id':'utf8'}}} | 'id' without 'fields'
          {'create':{'collection':'c','fields':[]}} | no vector field
          {'create':{'fields':[{'name':'v','type':'float32','dim':1}]}} | key 'collection' is missing
          {'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':16385}]}} | 16384
          {'create':{'collection':'c','fields':[{'name':'v','type':'utf8','dim':3}]}} | expected one of [float32
          {'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':3,'metric':'hamming'}]}} | go together
          {'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':3,'storage':'disk'}]}} | expected one of [mapped, memory]
          {'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':3},{'name':'n','type':'int32','storage':'memory'}]}} | 'storage' without 'dim'
          {'create':{'collection':'c','fields':[{'name':'_v','type':'float32','dim':3}]}} | 'create.fields[0].name'
          {'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':3},{'name':'v','type':'utf8'}]}} | declared twice
          {'create':{'collection':'c','fields':[{'name':'v','type':'float32','dim':3},{'name':'w','type':'utf9'}]}} | unknown payload type
          {'create':{'collection':'c','id':'int32','fields':[]}} | one of [int64, utf8, uuid]
          {'create':{'collection':'c','replicas':0,'fields':[]}} | from 1 to 9
          {'set':{'collection':'c','values':{'a':1}}} | expected one of 'filter' and 'ids'
          {'set':{'collection':'c','ids':[1],'values':{}}} | is empty
          {'unset':{'collection':'c','ids':[1]}} | key 'fields' is missing
          {'open_writer':{'after':-1}} | an integer from 0
          {'status':{'verbose':true}} | unknown key 'status.verbose', expected no keys
          """)
  void whatIsWrongIsRefusedByName(String json, String message) {
    assertThatThrownBy(() -> parse(json))
        .isInstanceOfSatisfying(
            SagittaException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'get':{'collection':'c','ids':[1 | it ends in the middle of a value at line 1, column 34
          {'get':{'collection':'c','ids':[1}} | Unexpected close marker '}': expected ']'
          {'get':{'collection':'c','ids':[NaN]}} | 'NaN' at line 1, column
          {'get':{'collection':'c','collection':'d'}} | Duplicate field 'collection' at line 1, column
          {'get':{collection:'c'}} | at line 1, column 9
          {'get':{'collection':'c','ids':[01]}} | at line 1, column
          {'get':{'collection':'c','ids':[1]}} {} | text follows the object at line 1, column 38
          """)
  void aTextThatIsNoJsonIsRefusedInPlainWordsWithLineAndColumn(String json, String message) {
    assertThatThrownBy(() -> parse(json))
        .hasMessageContaining("malformed JSON")
        .hasMessageContaining(message)
        .message()
        .doesNotContain("Source", "Feature", "StreamRead", "Constraints", "REDACTED", "`");
  }

  @Test
  void bytesThatAreNoJsonAreRefusedByTheirFirstByte() {
    assertThatThrownBy(() -> Commands.parse(new byte[] {0x0A, 3}))
        .hasMessageContaining("begins with byte 0x0a, expected '{'");
    assertThatThrownBy(() -> Commands.parse(new byte[0])).hasMessageContaining("empty");
    byte[] utf16 = "{\"status\":{}}".getBytes(StandardCharsets.UTF_16LE);
    assertThatThrownBy(() -> Commands.parse(utf16)).hasMessageContaining("malformed JSON");
    byte[] broken =
        "{'count':{'collection':'c','filter':'s = $1','params':['?']}}"
            .getBytes(StandardCharsets.ISO_8859_1);
    int at = new String(broken, StandardCharsets.ISO_8859_1).indexOf('?');
    for (int bad : new int[] {0xff, 0xc0, 0xe9, 0x80}) {
      broken[at] = (byte) bad;
      assertThatThrownBy(() -> Commands.parse(broken))
          .hasMessageContaining("not valid UTF-8 at byte " + at);
    }
  }

  @Test
  void anUnknownActionIsUnimplementedAndNamesTheNearest() {
    assertThatThrownBy(() -> Commands.parseBody("creat", new byte[0]))
        .hasMessageContaining("did you mean 'create'?")
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.UNIMPLEMENTED);
    assertThat(Commands.parseBody("status", new byte[0])).isEqualTo(new Command.Status());
  }

  @Test
  void nestingAndLengthsHaveBounds() {
    String deep = "[".repeat(5_000) + "]".repeat(5_000);
    assertThatThrownBy(
            () -> parse("{'set':{'collection':'c','ids':[1],'values':{'a':" + deep + "}}}"))
        .isInstanceOf(SagittaException.class)
        .hasMessageContaining("JSON: the depth of nesting (65) exceeds")
        .hasMessageNotContaining("Constraints")
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.LIMIT);
    for (String number : List.of("1e999999999", "1e99999999999", "1e-1101")) {
      assertThatThrownBy(
              () -> parse("{'count':{'collection':'c','filter':'a=$1','params':[" + number + "]}}"))
          .hasMessageContaining("a number of at most 1100 digits")
          .extracting(e -> ((SagittaException) e).code())
          .isEqualTo(ErrorCode.LIMIT);
    }
    String filter = "x".repeat(FilterText.TEXT_BYTES_MAX + 1);
    assertThatThrownBy(() -> parse("{'count':{'collection':'c','filter':'" + filter + "'}}"))
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.LIMIT);
    String ids = "1,".repeat(RequestLimits.IDS_MAX) + "1";
    assertThatThrownBy(() -> parse("{'get':{'collection':'c','ids':[" + ids + "]}}"))
        .hasMessage("'get.ids' has more than 10000 ids, expected at most 10000")
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.LIMIT);
    String values = "1,".repeat(RequestLimits.PARAMS_MAX) + "1";
    assertThatThrownBy(
            () ->
                parse(
                    "{'count':{'collection':'c','filter':'a IN $1','params':[[" + values + "]]}}"))
        .hasMessage("'count.params' has more than 65536 values, expected at most 65536")
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.LIMIT);
    String tooLong = " ".repeat(RequestLimits.REQUEST_BYTES_MAX);
    assertThatThrownBy(() -> parse("{" + tooLong + "}"))
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.LIMIT);
  }

  @Test
  void anInListOf65536ValuesIsAccepted() {
    String list = "7,".repeat(RequestLimits.PARAMS_MAX - 1) + "7";
    Command.Count count =
        (Command.Count)
            parse("{'count':{'collection':'c','filter':'x IN $1','params':[[" + list + "]]}}");
    assertThat((List<?>) count.filter().orElseThrow().params().getFirst())
        .hasSize(RequestLimits.PARAMS_MAX);
  }

  @Seeded
  @Test
  void damagedTextIsParsedOrRefusedAndNeverAnythingElse(Seed seed) {
    RandomGenerator random = seed.random();
    List<Command> commands = commands();
    for (int round = 0; round < 20_000; round++) {
      byte[] json = Commands.print(commands.get(random.nextInt(commands.size())));
      for (int i = random.nextInt(4); i >= 0; i--) {
        json[random.nextInt(json.length)] =
            random.nextBoolean()
                ? (byte) random.nextInt(256)
                : (byte) "{}[]\",:019.eE-+tfn\\u".charAt(random.nextInt(20));
      }
      byte[] damaged = Arrays.copyOf(json, random.nextInt(json.length + 1));
      for (byte[] text : List.of(json, damaged)) {
        try {
          Commands.parse(text);
        } catch (SagittaException e) {
          assertThat(e.code()).isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.LIMIT);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.1, Double.MIN_VALUE, Double.MAX_VALUE, -1e-300, 1})
  void doublesAmongParametersKeepTheirExactValue(double value) {
    String json = FilterParams.print(List.of(value));
    Object parsed = FilterParams.parse(json).getFirst();
    assertThat(new BigDecimal(parsed.toString())).isEqualByComparingTo(new BigDecimal(value));
  }

  @Test
  void base64OfPackedVectorsIsTheStandardOne() {
    byte[] packed = pack(new float[][] {{1.5f, -2}});
    String text = Base64.getEncoder().encodeToString(packed);
    Command.Search search =
        (Command.Search) parse("{'search':{'collection':'c','vector_f32':'" + text + "'}}");
    assertThat(((Query.PackedVectors) search.query()).littleEndian()).isEqualTo(packed);
  }

  private static Command parse(String json) {
    return Commands.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }
}
