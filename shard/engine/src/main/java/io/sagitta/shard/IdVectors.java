// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.IdType;
import io.sagitta.model.Names;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.VarCharVector;

/** Ids that a request names, as an id column. */
final class IdVectors {
  private IdVectors() {}

  /** A column of the ids in order; INVALID_ARGUMENT where one is not of the collection's type. */
  static FieldVector of(IdType type, List<PointId> ids, BufferAllocator allocator) {
    FieldVector out = ArrowSchemas.idField(type).createVector(allocator);
    try {
      out.setInitialCapacity(Math.max(1, ids.size()));
      out.allocateNew();
      for (int i = 0; i < ids.size(); i++) {
        set(type, out, i, ids.get(i));
      }
      out.setValueCount(ids.size());
      return out;
    } catch (Throwable e) {
      out.close();
      throw e;
    }
  }

  private static void set(IdType type, FieldVector out, int i, PointId id) {
    if (id.type() != type) {
      throw SagittaException.invalid(
          "id "
              + Names.quote(id.toString())
              + " has type "
              + id.type()
              + ", the collection's ids have type "
              + type);
    }
    switch (id) {
      case PointId.Int64 number -> ((BigIntVector) out).setSafe(i, number.value());
      case PointId.Utf8 text -> ((VarCharVector) out).setSafe(i, text.canonicalBytes());
      case PointId.Uuid uuid -> ((FixedSizeBinaryVector) out).setSafe(i, uuid.canonicalBytes());
    }
  }
}
