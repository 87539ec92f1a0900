// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.shard.distance.PreparedQuery;
import io.sagitta.shard.distance.TopK;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Measures what recall an index gives for what effort, against exact search over the same rows. The
 * queries are not in the index: a row that is there is found by its own links and would promise too
 * much. Also chooses, by what it measures, how many bits a search reads and how many rows it scores
 * exactly at the end.
 *
 * <p>One search of a given ef is enough for every k and every depth of the exact scoring: what is
 * scored exactly is a prefix of what it found.
 */
public final class Calibrator {
  private static final int[] EFS = {
    12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536, 2_048
  };

  /** Past this, a larger ef is of no more use. */
  private static final double ENOUGH = 0.9985;

  /** After so many larger efs that found no more, still larger ones are not tried. */
  private static final int IDLE_MAX = 4;

  /** Recall that scoring fewer rows exactly may cost. */
  private static final double RERANK_LOSS = 0.002;

  /** Where 4 bits reach this, 8 are not tried: they cost twice the memory traffic. */
  private static final double FOUR_IS_ENOUGH = 0.99;

  /** Where fewer of the queries than this are new to the index, they say nothing. */
  private static final double NEW_MIN = 0.05;

  /** Of the queries that are like rows, those that may be nearer to some row than what is far. */
  private static final double LIKE_ROWS = 0.9;

  /** Fewer queries tell nothing of what is far, or of those that are. */
  private static final int FAR_MIN = 48;

  /** Where a group has fewer queries than this, larger ones speak for it. */
  private static final int GROUP_MIN = 16;

  /** By this much effort the nearest row is found often enough to tell how far a query is. */
  private static final int NEAREST_EF = 64;

  /** By how much, of its size, a vector's score against itself may be off. */
  private static final double ROUNDING = 1e-6;

  /** Rows of a block that is scored for one query after the other while it is in the cache. */
  private static final int BLOCK_ROWS = 256;

  private final VectorIndex index;
  private final ExactRows rows;
  private final long[] present;
  private final int size;
  private final StopCheck stop;
  private final GraphSearcher searcher = new GraphSearcher();

  /**
   * Prepares a measurement.
   *
   * @param rows the vectors of the index
   * @param present which of its rows have a vector and live, one bit a row
   * @param size rows that count, at most those of the index
   */
  public Calibrator(VectorIndex index, ExactRows rows, long[] present, int size, StopCheck stop) {
    this.index = index;
    this.rows = rows;
    this.present = present;
    this.size = size;
    this.stop = stop;
  }

  /**
   * Measures with several kinds of queries, each query {@code dimension} components. The recall of
   * an effort is that of the kind that it serves worst, so that what is promised holds for each and
   * not only for a mixture that nobody may ask. Of each kind, those that have another nearest row
   * than all before count once more on their own: where rows repeat by the thousand, most queries
   * would ask for the same and easy thing, and speak for all others. Queries that repeat a vector
   * of the index are left out.
   *
   * <p>Queries that are farther from every row than rows are from each other take more effort for
   * the same recall. They are told by the distance of the nearest row, so they are measured apart,
   * and the others need not pay for them.
   *
   * @param kinds first the queries that are like the rows, if there are any
   * @return without steps where there are none, or hardly any that do not, so that no recall can be
   *     promised
   */
  public Calibration measure(List<List<float[]>> kinds) {
    List<Query> prepared = new ArrayList<>();
    for (int kind = 0; kind < kinds.size(); kind++) {
      for (float[] values : kinds.get(kind)) {
        prepared.add(new Query(values, kind));
      }
    }
    findTruth(prepared);
    int asked = prepared.size();
    prepared = prepared.stream().filter(query -> !query.isInIndex()).toList();
    if (prepared.isEmpty() || prepared.size() < NEW_MIN * asked) {
      return new Calibration(size, prepared.size(), List.of());
    }
    markFirst(prepared);
    if (index.parameters().bits()) {
      return new Calibration(size, prepared.size(), measure(prepared, Traversal.BITS));
    }
    float far = far(prepared);
    List<Query> near = prepared.stream().filter(query -> query.distance <= far).toList();
    List<Query> beyond = prepared.stream().filter(query -> query.distance > far).toList();
    Traversal traversal = Traversal.FOUR;
    List<Calibration.Step> steps = measure(near, Traversal.FOUR);
    double best = best(steps);
    if (best < FOUR_IS_ENOUGH) {
      List<Calibration.Step> eight = measure(near, Traversal.EIGHT);
      if (best(eight) > best + RERANK_LOSS) {
        traversal = Traversal.EIGHT;
        steps = eight;
      }
    }
    List<Calibration.Step> farSteps = beyond.isEmpty() ? List.of() : measure(beyond, traversal);
    return new Calibration(size, prepared.size(), steps, far, farSteps);
  }

  /**
   * How far the nearest row is estimated to be from nearly all queries that are like rows; infinite
   * where too few are, or hardly any query is farther.
   */
  private float far(List<Query> queries) {
    for (Query query : queries) {
      stop.check();
      int count =
          searcher.search(
              index,
              query.codes,
              new Effort(NEAREST_EF, 1, Traversal.FOUR),
              1,
              present,
              size,
              Long.MAX_VALUE,
              stop);
      query.distance = count == 0 ? Float.POSITIVE_INFINITY : searcher.estimates()[0];
    }
    float[] like = distances(queries.stream().filter(query -> query.kind == 0).toList());
    if (like.length < FAR_MIN) {
      return Float.POSITIVE_INFINITY;
    }
    float far = like[(int) (LIKE_ROWS * (like.length - 1))];
    long beyond = queries.stream().filter(query -> query.distance > far).count();
    return beyond < FAR_MIN ? Float.POSITIVE_INFINITY : far;
  }

  private static float[] distances(List<Query> queries) {
    float[] distances = new float[queries.size()];
    for (int i = 0; i < distances.length; i++) {
      distances[i] = queries.get(i).distance;
    }
    Arrays.sort(distances);
    return distances;
  }

  /** The worst over k of the best recall that some effort gave. */
  private static double best(List<Calibration.Step> steps) {
    double worst = 1;
    for (int k : Calibration.MEASURED_K) {
      double best = 0;
      for (Calibration.Step step : steps) {
        best = step.k() == k ? Math.max(best, step.recall()) : best;
      }
      worst = Math.min(worst, best);
    }
    return worst;
  }

  private final class Query {
    final PreparedQuery exact;
    final CodeQuery codes;

    /** True scores, best first. */
    final float[] truth = new float[Calibration.MEASURED_K[Calibration.MEASURED_K.length - 1]];

    int truths;

    /** The row that comes first in the truth; -1 for none. */
    long nearest = -1;

    final int kind;

    /** Estimated distance of the nearest row found. */
    float distance;

    /** Whether no query of its kind before it has the same nearest row. */
    boolean isFirst;

    private final double square;

    Query(float[] values, int kind) {
      this.kind = kind;
      IndexParameters p = index.parameters();
      exact = PreparedQuery.of(p.type(), p.metric(), p.dimension(), values, 0);
      codes = new CodeQuery(p);
      codes.set(values, 0);
      double sum = 0;
      for (float value : values) {
        sum += (double) value * value;
      }
      square = sum;
    }

    /** Whether the nearest row is the query itself, as far as its score tells. */
    boolean isInIndex() {
      if (truths == 0) {
        return false;
      }
      return switch (index.parameters().metric()) {
        case COSINE -> truth[0] >= 1 - ROUNDING;
        case DOT -> Math.abs(truth[0] - square) <= ROUNDING * square;
        case L2, HAMMING -> truth[0] == 0;
      };
    }

    boolean isBetter(float score, float other) {
      return index.parameters().metric().higherIsBetter() ? score > other : score < other;
    }
  }

  private void findTruth(List<Query> queries) {
    TopK[] heaps = new TopK[queries.size()];
    for (int q = 0; q < heaps.length; q++) {
      heaps[q] = new TopK(queries.get(q).truth.length, index.parameters().metric(), Long::compare);
    }
    int[] block = new int[BLOCK_ROWS];
    float[] scores = new float[BLOCK_ROWS];
    for (int from = 0; from < size; from += BLOCK_ROWS) {
      stop.check();
      int count = 0;
      for (int row = from; row < Math.min(size, from + BLOCK_ROWS); row++) {
        if ((present[row >> 6] >>> row & 1) != 0) {
          block[count++] = row;
        }
      }
      for (int q = 0; q < heaps.length && count > 0; q++) {
        rows.score(queries.get(q).exact, block, 0, count, scores, 0);
        for (int i = 0; i < count; i++) {
          heaps[q].offer(scores[i], block[i]);
        }
      }
    }
    for (int q = 0; q < heaps.length; q++) {
      Query query = queries.get(q);
      long[] refs = new long[query.truth.length];
      query.truths = heaps[q].drain(query.truth, refs);
      query.nearest = query.truths == 0 ? -1 : refs[0];
    }
  }

  /** Marks, of each kind, the first query for each nearest row. */
  private static void markFirst(List<Query> queries) {
    record Aim(int kind, long nearest) {}
    Set<Aim> aims = new HashSet<>();
    queries.forEach(query -> query.isFirst = aims.add(new Aim(query.kind, query.nearest)));
  }

  private List<Calibration.Step> measure(List<Query> queries, Traversal traversal) {
    List<List<Calibration.Step>> byK = new ArrayList<>();
    for (int ignored : Calibration.MEASURED_K) {
      byK.add(new ArrayList<>());
    }
    int kinds = 1 + queries.stream().mapToInt(query -> query.kind).max().orElse(0);
    int[] queriesOf = new int[2 * kinds];
    for (Query query : queries) {
      queriesOf[2 * query.kind]++;
      queriesOf[2 * query.kind + 1] += query.isFirst ? 1 : 0;
    }
    int idle = 0;
    for (int ef : EFS) {
      if (ef > 2 * size) {
        break;
      }
      Sums sums = new Sums(ef, queriesOf);
      for (Query query : queries) {
        stop.check();
        sums.add(query, traversal);
      }
      boolean enough = true;
      boolean better = false;
      for (int i = 0; i < byK.size(); i++) {
        int k = Calibration.MEASURED_K[i];
        if (ef >= k) {
          Calibration.Step step = sums.step(i, traversal);
          better |= byK.get(i).stream().allMatch(before -> before.recall() < step.recall());
          byK.get(i).add(step);
          enough &= step.recall() >= ENOUGH;
        } else {
          enough = false;
          better = true;
        }
      }
      idle = better ? 0 : idle + 1;
      if (enough || idle == IDLE_MAX) {
        break;
      }
    }
    return byK.stream().flatMap(List::stream).toList();
  }

  /**
   * Recall at one ef, by group of queries, by k, and by how many rows are scored exactly. A kind's
   * queries are one group, and those of them that are the first for a row another.
   */
  private final class Sums {
    private final int ef;
    private final int[] queriesOf;
    private final int leastOfGroup;
    private final double[][][] found;
    private double visited;
    private int searches;

    /** Sums over so many queries of each group. */
    Sums(int ef, int[] queriesOf) {
      this.ef = ef;
      this.queriesOf = queriesOf;
      this.leastOfGroup = Math.min(GROUP_MIN, Arrays.stream(queriesOf).max().orElse(0));
      this.found = new double[queriesOf.length][Calibration.MEASURED_K.length][];
      for (double[][] byK : found) {
        for (int i = 0; i < byK.length; i++) {
          byK[i] = new double[depths(Calibration.MEASURED_K[i], ef).length];
        }
      }
    }

    void add(Query query, Traversal traversal) {
      int count =
          searcher.search(
              index,
              query.codes,
              new Effort(ef, ef, traversal),
              ef,
              present,
              size,
              Long.MAX_VALUE,
              stop);
      visited += searcher.visited();
      searches++;
      float[] scores = new float[count];
      rows.score(query.exact, searcher.hits(), 0, count, scores, 0);
      double[][] ofKind = found[2 * query.kind];
      double[][] ofFirst = found[2 * query.kind + 1];
      for (int i = 0; i < ofKind.length; i++) {
        int k = Math.min(Calibration.MEASURED_K[i], query.truths);
        if (k == 0) {
          continue;
        }
        int[] depths = depths(Calibration.MEASURED_K[i], ef);
        float worst = query.truth[k - 1];
        int good = 0;
        int at = 0;
        for (int d = 0; d < depths.length; d++) {
          for (; at < Math.min(depths[d], count); at++) {
            good += query.isBetter(worst, scores[at]) ? 0 : 1;
          }
          double recall = (double) Math.min(good, k) / k;
          ofKind[i][d] += recall;
          ofFirst[i][d] += query.isFirst ? recall : 0;
        }
      }
    }

    Calibration.Step step(int whichK, Traversal traversal) {
      int k = Calibration.MEASURED_K[whichK];
      int[] depths = depths(k, ef);
      int least = depths.length - 1;
      double most = recall(whichK, least);
      while (least > 0 && recall(whichK, least - 1) >= most - RERANK_LOSS) {
        least--;
      }
      return new Calibration.Step(
          k, new Effort(ef, depths[least], traversal), recall(whichK, least), visited / searches);
    }

    /** Mean recall of the group that has the worst. */
    private double recall(int whichK, int depth) {
      double worst = 1;
      for (int group = 0; group < queriesOf.length; group++) {
        if (queriesOf[group] >= Math.max(1, leastOfGroup)) {
          worst = Math.min(worst, found[group][whichK][depth] / queriesOf[group]);
        }
      }
      return worst;
    }
  }

  /** How many rows may be scored exactly: 2 k, 4 k, ... up to ef. */
  private static int[] depths(int k, int ef) {
    int count = 1;
    for (int depth = 2 * k; depth < ef; depth *= 2) {
      count++;
    }
    int[] depths = new int[count];
    for (int i = 0; i < count - 1; i++) {
      depths[i] = 2 * k << i;
    }
    depths[count - 1] = ef;
    return depths;
  }
}
