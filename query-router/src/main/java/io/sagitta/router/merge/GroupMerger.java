// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.GroupColumn;
import io.sagitta.model.IdType;
import io.sagitta.model.SagittaException;
import io.sagitta.router.plan.AnswerFields;
import io.sagitta.router.rows.IdKeys;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Merges the groups of shards, query by query. Every shard was asked for its {@code n = offset + k}
 * best groups, each with its {@code size} best rows.
 *
 * <p><b>The groups are right.</b> Rows are ordered by score, then id; no two are equal. A group is
 * placed by its best row. Let group g be among the n best of all, its best row r in shard s. If s
 * did not name g, it named n others, each with a row in s that comes before every row of g in s,
 * and so before r. The best rows of those n groups over all shards come no later, so n groups would
 * come before g: a contradiction. So g is named, with r, by s. And what is named first in the union
 * of all answers by its best row is placed right, since every group of the n best has its best row
 * in the union, and no row in the union is better than its group's best.
 *
 * <p><b>The rows of a group may not be.</b> Where groups have more than one row, a shard that did
 * not name g may hold g's second best row. It cannot hold any that matters if
 *
 * <ul>
 *   <li>it named fewer than n groups: then it named all that it has, or
 *   <li>it was asked for g besides its best, or
 *   <li>g has {@code size} rows by then, the last of which comes before the best row of the n-th
 *       group of that shard: every row of g in that shard comes after it.
 * </ul>
 *
 * <p>Otherwise {@link #open} says what to ask that shard. Each shard's last answer counts, as a
 * whole, so that still every shard was read at one instant, also where points change between two
 * questions: then other groups may be best, and {@link #open} says so.
 */
public final class GroupMerger {
  private final Wanted wanted;
  private final List<Shard> shards = new ArrayList<>();

  /** The groups to answer, by query. */
  private final List<List<Group>> groups = new ArrayList<>();

  /**
   * What was asked for.
   *
   * @param idType type of the ids
   * @param higherIsBetter whether scores are similarities rather than distances
   * @param queries number of query vectors
   * @param offset groups of each query to leave out at the top
   * @param k groups of each query to answer at most
   * @param size rows of a group at most
   * @param field name of the field grouped by
   */
  public record Wanted(
      IdType idType,
      boolean higherIsBetter,
      int queries,
      int offset,
      int k,
      int size,
      String field) {}

  /**
   * A shard's answer.
   *
   * @param rows columns query, id, {@code _score}, {@code _version} and fields, the one grouped by
   *     among them; by query, group by group, best first; stays the caller's
   * @param also for each query, hashes of the groups it was asked for besides its best; or empty
   */
  public record Answer(VectorSchemaRoot rows, List<long[]> also) {}

  /** Merges; see {@link #open} and {@link #rows}. */
  public GroupMerger(Wanted wanted, List<Answer> answers) {
    this.wanted = wanted;
    for (Answer answer : answers) {
      shards.add(new Shard(answer));
    }
    for (int query = 0; query < wanted.queries; query++) {
      groups.add(merge(query));
    }
  }

  /**
   * For each shard, what to ask it for besides its best, each query's hashes; empty where it has
   * answered all that matters.
   */
  public List<Optional<List<long[]>>> open() {
    List<Optional<List<long[]>>> open = new ArrayList<>();
    for (Shard shard : shards) {
      boolean whole = true;
      for (int query = 0; query < wanted.queries && whole; query++) {
        whole = hasAnsweredAll(shard, query);
      }
      open.add(whole ? Optional.empty() : Optional.of(hashes(shard)));
    }
    return open;
  }

  private boolean hasAnsweredAll(Shard shard, int query) {
    List<Run> runs = shard.runs.get(query);
    int n = wanted.offset + wanted.k;
    if (wanted.size == 1 || runs.size() < n) {
      return true;
    }
    Row bound = runs.get(n - 1).first();
    for (Group group : groups.get(query)) {
      boolean counts =
          group.shards.contains(shard)
              || shard.wasAskedFor(query, group.value)
              || (group.rows.size() == wanted.size
                  && order().compare(group.rows.getLast(), bound) < 0);
      if (!counts) {
        return false;
      }
    }
    return true;
  }

  /** Of all groups to answer, and those asked for before: they may be best again. */
  private List<long[]> hashes(Shard shard) {
    List<long[]> all = new ArrayList<>();
    for (int query = 0; query < wanted.queries; query++) {
      Set<Long> hashes = new HashSet<>(shard.also.isEmpty() ? Set.of() : shard.also.get(query));
      groups.get(query).forEach(group -> hashes.add(group.value.hash()));
      all.add(hashes.stream().mapToLong(Long::longValue).toArray());
    }
    return all;
  }

  /**
   * The answer, which the caller closes.
   *
   * @throws SagittaException LIMIT when it takes more than {@code bytesMax}
   */
  public VectorSchemaRoot rows(long bytesMax, BufferAllocator allocator) {
    Selection selection = new Selection(shards.stream().map(shard -> shard.rows).toList());
    for (List<Group> ofQuery : groups) {
      for (Group group : ofQuery) {
        group.rows.forEach(row -> selection.add(shards.indexOf(row.shard), row.at));
      }
    }
    return selection.copy(bytesMax, allocator);
  }

  private List<Group> merge(int query) {
    Map<GroupColumn.Value, Group> all = new LinkedHashMap<>();
    for (Shard shard : shards) {
      for (Run run : shard.runs.get(query)) {
        all.computeIfAbsent(run.value, Group::new).add(run);
      }
    }
    all.values().forEach(group -> group.rows.sort(order()));
    List<Group> best =
        all.values().stream()
            .sorted(Comparator.comparing(group -> group.rows.getFirst(), order()))
            .skip(wanted.offset)
            .limit(wanted.k)
            .toList();
    best.forEach(group -> group.cut(wanted.size));
    return best;
  }

  /** Best first, equal scores by id. */
  private Comparator<Row> order() {
    return (a, b) -> {
      float scoreA = a.shard.scores.get(a.at);
      float scoreB = b.shard.scores.get(b.at);
      if (scoreA != scoreB) {
        return (wanted.higherIsBetter ? scoreA > scoreB : scoreA < scoreB) ? -1 : 1;
      }
      return a.shard.ids.compare(a.at, b.shard.ids, b.at);
    };
  }

  private record Row(Shard shard, int at) {}

  /** A group's rows in one shard's answer. */
  private record Run(Shard shard, GroupColumn.Value value, int from, int to) {
    Row first() {
      return new Row(shard, from);
    }
  }

  private static final class Group {
    private final GroupColumn.Value value;
    private final Set<Shard> shards = new HashSet<>();
    private final List<Row> rows = new ArrayList<>();

    Group(GroupColumn.Value value) {
      this.value = value;
    }

    void add(Run run) {
      shards.add(run.shard);
      for (int at = run.from; at < run.to; at++) {
        rows.add(new Row(run.shard, at));
      }
    }

    void cut(int size) {
      if (rows.size() > size) {
        rows.subList(size, rows.size()).clear();
      }
    }
  }

  private final class Shard {
    private final VectorSchemaRoot rows;
    private final Float4Vector scores;
    private final IdKeys ids;

    /** By query, best first. */
    private final List<List<Run>> runs = new ArrayList<>();

    private final List<Set<Long>> also = new ArrayList<>();

    Shard(Answer answer) {
      rows = answer.rows;
      scores = (Float4Vector) rows.getVector(AnswerFields.SCORE);
      ids = IdKeys.of(wanted.idType, rows.getVector(CollectionSchema.ID));
      for (long[] hashes : answer.also) {
        Set<Long> set = new HashSet<>();
        for (long hash : hashes) {
          set.add(hash);
        }
        also.add(set);
      }
      readRuns();
    }

    boolean wasAskedFor(int query, GroupColumn.Value value) {
      return !also.isEmpty() && also.get(query).contains(value.hash());
    }

    private void readRuns() {
      for (int query = 0; query < wanted.queries; query++) {
        runs.add(new ArrayList<>());
      }
      IntVector queries = (IntVector) rows.getVector(AnswerFields.QUERY);
      GroupColumn groups = GroupColumn.of(rows.getVector(wanted.field));
      for (int from = 0; from < rows.getRowCount(); ) {
        GroupColumn.Value value = groups.value(from);
        if (value == null) {
          throw new SagittaException(
              ErrorCode.INTERNAL, "a shard answered a hit that belongs to no group");
        }
        int to = from + 1;
        while (to < rows.getRowCount()
            && queries.get(to) == queries.get(from)
            && value.equals(groups.value(to))) {
          to++;
        }
        runs.get(queries.get(from)).add(new Run(this, value, from, to));
        from = to;
      }
    }
  }
}
