// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VarCharVector;

/** Ids as a canonical column. */
public final class IdColumns {
  private IdColumns() {}

  /** The ids in order; close the column. */
  public static FieldVector of(IdType type, List<PointId> ids, BufferAllocator allocator) {
    FieldVector vector = ArrowSchemas.idField(type).createVector(allocator);
    try {
      vector.setInitialCapacity(ids.size());
      vector.allocateNew();
      for (int row = 0; row < ids.size(); row++) {
        switch (ids.get(row)) {
          case PointId.Int64 id -> ((BigIntVector) vector).setSafe(row, id.value());
          case PointId.Utf8 id -> ((VarCharVector) vector).setSafe(row, id.canonicalBytes());
          case PointId.Uuid id ->
              ((FixedSizeBinaryVector) vector).setSafe(row, id.canonicalBytes());
        }
      }
      vector.setValueCount(ids.size());
      return vector;
    } catch (Throwable e) {
      vector.close();
      throw e;
    }
  }
}
