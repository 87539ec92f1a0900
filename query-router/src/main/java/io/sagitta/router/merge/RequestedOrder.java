// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.router.rows.IdKeys;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Puts the points of a get into the order in which they were asked for. An id asked for twice is
 * answered twice; one that does not exist is left out.
 */
public final class RequestedOrder {
  private RequestedOrder() {}

  private record Place(int answer, int row) {}

  /**
   * Sorts.
   *
   * @param answers shards' points, in any order; closed here
   * @return the answer, which the caller closes
   */
  public static VectorSchemaRoot sort(
      IdType idType,
      List<PointId> asked,
      List<VectorSchemaRoot> answers,
      long bytesMax,
      BufferAllocator allocator) {
    try {
      Selection selection = new Selection(answers);
      Map<PointId, Place> places = new HashMap<>();
      for (int answer = 0; answer < answers.size(); answer++) {
        VectorSchemaRoot root = answers.get(answer);
        IdKeys ids = IdKeys.of(idType, root.getVector(CollectionSchema.ID));
        for (int row = 0; row < root.getRowCount(); row++) {
          places.put(ids.id(row), new Place(answer, row));
        }
      }
      for (PointId id : asked) {
        Place place = places.get(id);
        if (place != null) {
          selection.add(place.answer, place.row);
        }
      }
      return selection.copy(bytesMax, allocator);
    } finally {
      answers.forEach(VectorSchemaRoot::close);
    }
  }
}
