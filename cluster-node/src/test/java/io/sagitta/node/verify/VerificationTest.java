// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sagitta.model.CollectionId;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.NodeId;
import io.sagitta.model.ShardId;
import io.sagitta.model.ShardMap;
import io.sagitta.model.SlotRange;
import io.sagitta.node.placement.ReplicaDigest;
import io.sagitta.node.placement.ReplicaDigest.Damaged;
import io.sagitta.node.placement.ReplicaDigest.Taken;
import io.sagitta.node.placement.ReplicaDigest.Unavailable;
import io.sagitta.node.placement.ReplicaDigest.Unreachable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** How replicas are asked, with nodes n1, n2, ... that answer what a test says. */
class VerificationTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private record Question(String node, ShardId shard, long minIndex, Duration timeout) {}

  private final List<Question> asked = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, Function<Question, ReplicaDigest>> nodes = new ConcurrentHashMap<>();
  private Duration left = SECOND.multipliedBy(40);

  private static NodeId id(String node) {
    return new NodeId(new UUID(0, Long.parseLong(node.substring(1))));
  }

  private static String name(NodeId id) {
    return "n" + id.value().getLeastSignificantBits();
  }

  private JsonNode verify(int shards, String... replicas) {
    List<ShardMap.Shard> all = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      all.add(
          new ShardMap.Shard(
              new ShardId(new UUID(1, i)),
              i,
              new SlotRange(i, i + 1),
              1,
              List.of(replicas).stream().map(VerificationTest::id).toList()));
    }
    ShardMap.Collection collection =
        new ShardMap.Collection(
            new CollectionId(new UUID(2, 0)),
            "films",
            new CollectionSchema(1, IdType.INT64, List.of()),
            all,
            0,
            0);
    return new Verification(this::answer, VerificationTest::name, Thread::startVirtualThread)
        .verify(collection, () -> left);
  }

  private ReplicaDigest answer(NodeId node, ShardId shard, long minIndex, Duration timeout) {
    Question question = new Question(name(node), shard, minIndex, timeout);
    asked.add(question);
    return nodes.get(question.node()).apply(question);
  }

  private List<Long> minIndexes(String node) {
    return asked.stream().filter(q -> q.node().equals(node)).map(Question::minIndex).toList();
  }

  /** A replica that has come to an index and holds still. */
  private static Function<Question, ReplicaDigest> at(long index, String digest) {
    return question -> new Taken(Math.max(index, question.minIndex()), 3, digest);
  }

  @Test
  void aFollowerThatIsAStepBehindIsReadAgainAtTheOthersIndex() {
    nodes.putAll(Map.of("n1", at(7, "aa"), "n2", at(5, "aa"), "n3", at(7, "aa")));
    JsonNode shard = verify(1, "n1", "n2", "n3").at("/shards/0");
    assertThat(shard.path("equal").booleanValue()).isTrue();
    assertThat(shard.at("/replicas/1/index").longValue()).isEqualTo(7);
    assertThat(minIndexes("n2")).containsExactly(0L, 7L);
  }

  @Test
  void whereWritesGoOnItGivesUpAfterSomeRounds() {
    nodes.put("n1", question -> new Taken(question.minIndex() + 1, 3, "aa"));
    nodes.put("n2", question -> new Taken(question.minIndex() + 2, 3, "bb"));
    JsonNode shard = verify(1, "n1", "n2").at("/shards/0");
    assertThat(minIndexes("n1")).containsExactly(0L, 2L, 4L, 6L, 8L);
    assertThat(shard.path("equal").isNull()).isTrue();
    assertThat(shard.at("/replicas/0/verdict").textValue()).isEqualTo("not_compared");
  }

  @Test
  void whatCannotBeReadIsAskedOnceWhileTheOthersAreBroughtToOneIndex() {
    nodes.put("n1", at(5, "aa"));
    nodes.put("n2", question -> new Damaged("segment 3 is bad"));
    nodes.put("n3", at(7, "aa"));
    nodes.put("n4", question -> new Unreachable("connection refused"));
    JsonNode shard = verify(1, "n1", "n2", "n3", "n4").at("/shards/0");
    assertThat(minIndexes("n1")).containsExactly(0L, 7L);
    assertThat(minIndexes("n2")).containsExactly(0L);
    assertThat(minIndexes("n4")).containsExactly(0L);
    assertThat(shard.findValuesAsText("node")).containsExactly("n1", "n2", "n3", "n4");
    assertThat(shard.at("/replicas/0/index").longValue()).isEqualTo(7);
  }

  @Test
  void oneThatFallsSilentBetweenRoundsIsNotTakenForWhatItSaidBefore() {
    nodes.put("n1", at(5, "aa"));
    nodes.put("n2", at(7, "aa"));
    nodes.put(
        "n3", question -> question.minIndex() == 0 ? new Taken(6, 3, "aa") : new Unreachable("no"));
    JsonNode shard = verify(1, "n1", "n2", "n3").at("/shards/0");
    assertThat(shard.findValuesAsText("verdict")).containsExactly("equal", "equal", "unreachable");
    assertThat(shard.at("/replicas/2").has("digest")).isFalse();
  }

  @Test
  void replicasOfAShardAreAskedSideBySide() {
    CountDownLatch others = new CountDownLatch(2);
    nodes.put(
        "n1",
        question -> {
          try {
            return others.await(30, TimeUnit.SECONDS)
                ? new Taken(7, 3, "aa")
                : new Unreachable("the others were not asked meanwhile");
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    for (String other : List.of("n2", "n3")) {
      nodes.put(
          other,
          question -> {
            others.countDown();
            return new Taken(7, 3, "aa");
          });
    }
    assertThat(verify(1, "n1", "n2", "n3").at("/shards/0/equal").booleanValue()).isTrue();
  }

  @Test
  void aNodeThatHangsCostsEachShardNoMoreThanItsPartOfTheTime() {
    nodes.put("n1", at(7, "aa"));
    nodes.put(
        "n2",
        question -> {
          left = left.minus(question.timeout());
          return new Unreachable("no answer in time");
        });
    JsonNode shards = verify(3, "n1", "n2").path("shards");
    assertThat(shards).hasSize(3);
    assertThat(asked).hasSize(6).allMatch(q -> q.timeout().equals(SECOND.multipliedBy(10)));
    assertThat(left).isEqualTo(SECOND.multipliedBy(10));
  }

  @Test
  void theAnswerSaysOfEveryReplicaWhatItHoldsOrWhatIsWrong() throws JsonProcessingException {
    nodes.put("n1", at(7, "aa"));
    nodes.put("n2", at(7, "bb"));
    nodes.put("n3", at(7, "aa"));
    nodes.put("n4", question -> new Damaged("segment 3 is bad"));
    nodes.put("n5", at(7, "aa"));
    nodes.put("n6", question -> new Unreachable("connection refused"));
    nodes.put("n7", question -> new Unavailable(ErrorCode.INTERNAL, "a bug"));
    nodes.put("n8", at(7, "aa"));
    nodes.put("n9", at(7, "aa"));
    ObjectMapper mapper = new ObjectMapper();
    JsonNode answer = verify(1, "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9");
    assertThat(mapper.readTree(answer.toString()))
        .isEqualTo(
            mapper.readTree(
                """
                    {"shards": [{"shard": 0, "equal": false, "replicas": [
                      {"node": "n1", "index": 7, "rows": 3, "digest": "aa", "verdict": "equal"},
                      {"node": "n2", "index": 7, "rows": 3, "digest": "bb", "verdict": "different",
                       "cause": "differs at log index 7 from n1 and n3 and n5 and n8 and n9, a majority"},
                      {"node": "n3", "index": 7, "rows": 3, "digest": "aa", "verdict": "equal"},
                      {"node": "n4", "error": "sagitta.CORRUPT: segment 3 is bad",
                       "verdict": "damaged", "cause": "segment 3 is bad"},
                      {"node": "n5", "index": 7, "rows": 3, "digest": "aa", "verdict": "equal"},
                      {"node": "n6", "error": "sagitta.UNAVAILABLE: connection refused",
                       "verdict": "unreachable", "cause": "connection refused"},
                      {"node": "n7", "error": "sagitta.INTERNAL: a bug",
                       "verdict": "unavailable", "cause": "a bug"},
                      {"node": "n8", "index": 7, "rows": 3, "digest": "aa", "verdict": "equal"},
                      {"node": "n9", "index": 7, "rows": 3, "digest": "aa", "verdict": "equal"}]}]}
                    """));
  }
}
