// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.GroupColumn;
import io.sagitta.model.ShardRead;
import io.sagitta.model.VectorField;
import io.sagitta.shard.GroupReach.Seen;
import io.sagitta.shard.IndexedSearcher.Walked;
import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.TieBreak;
import io.sagitta.shard.distance.TopK;
import io.sagitta.shard.segment.Segment;
import io.sagitta.shard.segment.SegmentSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the best groups of a shard, and then the best rows of each.
 *
 * <p><b>Which groups.</b> A segment that is scanned offers all its rows to one {@link GroupTop} a
 * query. A segment with a graph is walked for its best rows, as many as are likely to hold the
 * groups wanted. They do if the last of them is no better than the k-th group by then: no row that
 * was not seen can change anything. If not, one group holds many of the nearest rows, or there are
 * fewer than k groups. Then the walk goes further, as long as that costs less than reading the
 * values of all rows; and then the groups seen are taken out of the candidates and the rest is
 * searched, which brings at least one new group each time or shows that there is none. After a few
 * such rounds the rest is scanned. Each walk is under {@link IndexedSearcher}'s guard, so that
 * min(k, groups) groups come back whatever the filter and wherever the rows lie.
 *
 * <p><b>Which rows.</b> The best row of each group is known by then, and all there is to it where
 * groups have one row. Otherwise a group needs its next best rows from every segment: from what the
 * walks have seen where they have passed over none of the group's that matters, and from a scan of
 * the group's rows where not.
 */
final class GroupedSearcher {
  /** Rows of the first walk for each group wanted. */
  private static final int ROWS_A_GROUP = 4;

  private static final int FIRST_ROWS_MIN = 32;

  /** How many times as many rows the next walk brings. */
  private static final int WIDER = 4;

  /** To bring so many rows by a walk costs what reading one value of each row of a segment does. */
  private static final int VALUES_A_HIT = 16;

  /** Rounds that take the groups seen out; each reads a value of every candidate. */
  private static final int ROUNDS_MAX = 3;

  private final SegmentSet set;
  private final ShardRead.Search search;
  private final ShardRead.Grouping grouping;
  private final VectorField field;
  private final PreparedQuery[] queries;
  private final TieBreak byId;
  private final StopSignal stop;
  private final GroupValues values;
  private final IndexedSearcher indexed;
  private final ExactSearcher exact;
  private final boolean membersWanted;

  private final long[][] candidates;
  private final Done[] done;
  private final GroupTop[] tops;

  /**
   * A search of one request, for one thread.
   *
   * @param candidates for each segment, the rows that match; null where there is nothing to search
   */
  GroupedSearcher(
      SegmentSet set,
      ShardRead.Search search,
      VectorField field,
      PreparedQuery[] queries,
      long[][] candidates,
      IndexedSearcher indexed,
      TieBreak byId,
      StopSignal stop) {
    this.set = set;
    this.search = search;
    this.grouping = search.grouping().orElseThrow();
    this.field = field;
    this.queries = queries;
    this.candidates = candidates;
    this.indexed = indexed;
    this.byId = byId;
    this.stop = stop;
    this.exact = new ExactSearcher(queries.length);
    this.values = new GroupValues(set, GroupColumn.field(set.schema(), grouping.field()).fieldId());
    this.membersWanted = grouping.size() > 1 || !grouping.also().isEmpty();
    this.done = new Done[candidates.length];
    this.tops = new GroupTop[queries.length];
  }

  /**
   * What came of it.
   *
   * @param groups for each query its groups, best first
   * @param searched for each segment what was done; empty where there was nothing to search
   */
  record Found(List<List<GroupMembers.Rows>> groups, List<Optional<Searched>> searched) {}

  Found search() {
    for (int q = 0; q < queries.length; q++) {
      tops[q] = new GroupTop(search.k(), field.metric(), byId, values);
      if (search.bound().isPresent()) {
        tops[q].bound(SearchReader.bound(search.bound(), field.metric().higherIsBetter()));
      }
    }
    scanUnindexed();
    List<List<GroupMembers.Rows>> groups = new ArrayList<>();
    for (int q = 0; q < queries.length; q++) {
      GroupReach[] reaches = walkIndexed(q);
      groups.add(membersWanted ? members(q, reaches) : leaders(tops[q]));
    }
    return new Found(
        groups, Arrays.stream(done).map(d -> Optional.ofNullable(d).map(Done::searched)).toList());
  }

  // ---- which groups ----------------------------------------------------------------------------

  /** First, so that walks need only bring what is better. */
  private void scanUnindexed() {
    for (int s = 0; s < candidates.length; s++) {
      if (candidates[s] != null
          && !indexed.prefersGraph(segment(s), field, candidates[s], firstRows())) {
        done[s] = new Done();
        done[s].scanned(
            exact.search(segment(s), ref(s), field, candidates[s], queries, tops, stop));
      }
    }
  }

  private int firstRows() {
    int groups = Math.max(search.k() * ROWS_A_GROUP, 2 * search.k() * grouping.size());
    return Math.max(FIRST_ROWS_MIN, groups);
  }

  /** What was seen of each segment; null where it was scanned for the groups' best rows only. */
  private GroupReach[] walkIndexed(int q) {
    GroupReach[] reaches = new GroupReach[candidates.length];
    for (int s = 0; s < candidates.length; s++) {
      if (candidates[s] != null && (done[s] == null || done[s].isIndexed)) {
        if (done[s] == null) {
          done[s] = new Done();
          done[s].isIndexed = true;
        }
        reaches[s] = new GroupReach(field.metric().higherIsBetter());
        walk(s, q, reaches[s]);
      }
    }
    return reaches;
  }

  private void walk(int s, int q, GroupReach reach) {
    long[] left = candidates[s];
    int count = Bits.count(left);
    int rows = firstRows();
    for (int round = 0; ; ) {
      TopK heap = heap(Math.min(rows, count));
      Optional<Walked> walked =
          indexed.walk(
              segment(s), ref(s), field, left, q, queries[q], rows, round == 0, heap, stop);
      walked.ifPresent(w -> done[s].add(w.searched()));
      if (walked.isEmpty() || !walked.get().isEnough()) {
        scan(s, q, left);
        reach.othersUnknown();
        return;
      }
      boolean isAll = heap.size() < rows;
      float worst = takeIn(heap, q, reach, isAll);
      if (isAll || !tops[q].canImprove(worst)) {
        return;
      }
      if (round == 0 && (long) rows * WIDER * VALUES_A_HIT <= count) {
        rows *= WIDER;
        reach.clear();
        continue;
      }
      left = left.clone();
      values.keep(segment(s), left, group -> !reach.hasSeen(group), stop);
      count = Bits.count(left);
      if (count == 0) {
        reach.othersUnknown(); // there are none: what is left to know is of the groups seen
        return;
      }
      if (round++ == ROUNDS_MAX) {
        scan(s, q, left);
        reach.othersUnknown();
        return;
      }
      rows = firstRows();
    }
  }

  private void scan(int s, int q, long[] left) {
    done[s].scanned(
        exact.search(
            segment(s),
            ref(s),
            field,
            left,
            new PreparedQuery[] {queries[q]},
            new GroupTop[] {tops[q]},
            stop));
  }

  /** Offers a walk's rows; returns the score of the last. */
  private float takeIn(TopK heap, int q, GroupReach reach, boolean isAll) {
    float[] scores = new float[heap.size()];
    long[] refs = new long[scores.length];
    int count = heap.drain(scores, refs);
    List<Seen> hits = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      GroupColumn.Value group = values.of(refs[i]);
      if (group != null) {
        hits.add(new Seen(group, scores[i], refs[i]));
        tops[q].offer(group, scores[i], refs[i]);
      }
    }
    float worst = count == 0 ? Float.NaN : scores[count - 1];
    reach.add(hits, isAll, worst);
    return worst;
  }

  private static List<GroupMembers.Rows> leaders(GroupTop top) {
    return top.leaders().stream()
        .map(
            leader ->
                new GroupMembers.Rows(new float[] {leader.score()}, new long[] {leader.ref()}))
        .toList();
  }

  // ---- which rows ------------------------------------------------------------------------------

  private List<GroupMembers.Rows> members(int q, GroupReach[] reaches) {
    GroupMembers members = new GroupMembers(values, () -> heap(grouping.size()));
    tops[q].leaders().forEach(leader -> members.add(leader.group()));
    Set<Long> also = also(q);
    for (GroupReach reach : reaches) {
      if (reach != null) {
        offerSeen(reach, members, also);
      }
    }
    for (int s = 0; s < candidates.length; s++) {
      if (candidates[s] != null) {
        scanIncomplete(s, q, reaches[s], members, also);
      }
    }
    List<GroupMembers.Rows> groups = members.drain();
    groups.sort((a, b) -> tops[q].compare(first(a), first(b)));
    return groups;
  }

  private Set<Long> also(int q) {
    Set<Long> hashes = new HashSet<>();
    if (!grouping.also().isEmpty()) {
      for (long hash : grouping.also().get(q)) {
        hashes.add(hash);
      }
    }
    return hashes;
  }

  private static void offerSeen(GroupReach reach, GroupMembers members, Set<Long> also) {
    for (Seen row : reach.rows()) {
      if (also.contains(row.group().hash())) {
        members.add(row.group());
      }
      members.offer(row.group(), row.score(), row.ref());
    }
  }

  /** Scans a segment's rows of the groups of which it may hold a row that matters. */
  private void scanIncomplete(
      int s, int q, GroupReach reach, GroupMembers members, Set<Long> also) {
    if (reach != null && reach.isAll()) {
      return;
    }
    Set<GroupColumn.Value> incomplete = new HashSet<>();
    members
        .groups()
        .forEach(
            (group, heap) -> {
              if (reach == null || !reach.isComplete(group, heap)) {
                incomplete.add(group);
                heap.forget(ref(s), ref(s) + segment(s).rows()); // they come again
              }
            });
    if (incomplete.isEmpty() && also.isEmpty()) {
      return;
    }
    long[] rows = candidates[s].clone();
    values.keep(
        segment(s),
        rows,
        group -> {
          if (also.contains(group.hash()) && !members.has(group)) {
            members.add(group);
            incomplete.add(group);
          }
          return incomplete.contains(group);
        },
        stop);
    done[s].visited +=
        exact
            .search(
                segment(s),
                ref(s),
                field,
                rows,
                new PreparedQuery[] {queries[q]},
                new GroupMembers[] {members},
                stop)
            .visited();
  }

  private static GroupTop.Leader first(GroupMembers.Rows rows) {
    return new GroupTop.Leader(null, rows.scores()[0], rows.refs()[0]);
  }

  // ---- helpers ---------------------------------------------------------------------------------

  private TopK heap(int k) {
    return SearchReader.heap(Math.max(1, k), field.metric(), byId, search.bound());
  }

  private Segment segment(int s) {
    return set.segments().get(s);
  }

  private static long ref(int s) {
    return SegmentSet.ref(s, 0);
  }

  /** What was done to a segment for all queries together. */
  private static final class Done {
    private boolean isIndexed;
    private long visited;
    private Optional<Searched> walk = Optional.empty();

    void add(Searched walked) {
      visited += walked.visited();
      if (walked.effort().isPresent()
          && (walk.isEmpty() || walked.recall() <= walk.get().recall())) {
        walk = Optional.of(walked);
      }
    }

    void scanned(Searched scan) {
      visited += scan.visited();
    }

    /** As the least exact part of it. */
    Searched searched() {
      return walk.map(w -> new Searched(w.strategy(), visited, w.recall(), w.effort()))
          .orElse(Searched.scan(visited));
    }
  }
}
