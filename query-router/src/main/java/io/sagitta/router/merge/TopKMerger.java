// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.IdType;
import io.sagitta.model.SagittaException;
import io.sagitta.router.plan.AnswerFields;
import io.sagitta.router.rows.IdKeys;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Merges the hits of shards, query by query: best score first, equal scores by id, as every shard
 * orders its own. Shards are few, so the next hit is found by looking at each shard's first one
 * left.
 *
 * @param idType type of the ids
 * @param higherIsBetter whether scores are similarities rather than distances
 * @param queries number of query vectors
 * @param offset hits of each query to leave out at the top
 * @param k hits of each query to answer at most
 * @param bytesMax bytes the answer may take
 */
public record TopKMerger(
    IdType idType, boolean higherIsBetter, int queries, int offset, int k, long bytesMax) {

  /**
   * Merges.
   *
   * @param answers one root a shard: columns query, id, {@code _score}, {@code _version} and
   *     fields, by query and best first, at least {@code offset + k} hits of each query if there
   *     are as many; closed here, or handed through where there is nothing to merge
   * @return the answer, which the caller closes
   */
  public VectorSchemaRoot merge(List<VectorSchemaRoot> answers, BufferAllocator allocator) {
    if (answers.size() == 1 && offset == 0) {
      return answers.getFirst();
    }
    try {
      Selection selection = new Selection(answers);
      List<Hits> shards = new ArrayList<>(answers.size());
      for (VectorSchemaRoot answer : answers) {
        shards.add(new Hits(idType, answer));
      }
      for (int query = 0; query < queries; query++) {
        mergeQuery(query, shards, selection);
      }
      return selection.copy(bytesMax, allocator);
    } finally {
      answers.forEach(VectorSchemaRoot::close);
    }
  }

  private void mergeQuery(int query, List<Hits> shards, Selection selection) {
    for (Hits hits : shards) {
      hits.enter(query);
    }
    for (int rank = 0; rank < offset + k; rank++) {
      int best = -1;
      for (int shard = 0; shard < shards.size(); shard++) {
        if (shards.get(shard).hasNext()
            && (best < 0 || isBefore(shards.get(shard), shards.get(best)))) {
          best = shard;
        }
      }
      if (best < 0) {
        return;
      }
      int row = shards.get(best).take();
      if (rank >= offset) {
        selection.add(best, row);
      }
    }
  }

  private boolean isBefore(Hits a, Hits b) {
    float scoreA = a.score();
    float scoreB = b.score();
    if (scoreA != scoreB) {
      return higherIsBetter ? scoreA > scoreB : scoreA < scoreB;
    }
    return a.ids.compare(a.row, b.ids, b.row) < 0;
  }

  /** One shard's hits and how far they are merged. */
  private static final class Hits {
    private final int rows;
    private final IntVector queries;
    private final Float4Vector scores;
    private final IdKeys ids;
    private int row;
    private int end;

    private Hits(IdType idType, VectorSchemaRoot answer) {
      rows = answer.getRowCount();
      queries = (IntVector) answer.getVector(AnswerFields.QUERY);
      scores = (Float4Vector) answer.getVector(AnswerFields.SCORE);
      ids = IdKeys.of(idType, answer.getVector(CollectionSchema.ID));
    }

    /** Passes over what is left of the query before and finds the end of this one. */
    private void enter(int query) {
      row = end;
      while (end < rows && queries.get(end) == query) {
        end++;
      }
      if (end == row && end < rows && queries.get(end) < query) {
        throw new SagittaException(
            ErrorCode.INTERNAL, "a shard's hits are not in the order of the queries");
      }
    }

    private boolean hasNext() {
      return row < end;
    }

    private float score() {
      return scores.get(row);
    }

    private int take() {
      return row++;
    }
  }
}
