// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.flight.Command.IdText;
import io.sagitta.model.IdType;
import io.sagitta.model.Names;
import io.sagitta.model.PointId;
import io.sagitta.model.SagittaException;
import java.util.ArrayList;
import java.util.List;

/**
 * Ids as they stand in JSON to ids of a collection. An int64 may be a number or, since many a JSON
 * library rounds large ones, a string of digits; text and uuids are strings.
 */
public final class PointIds {
  private PointIds() {}

  /** The id; INVALID_ARGUMENT where it is not one of the type. */
  public static PointId of(IdType type, IdText id) {
    if (type != IdType.INT64 && !id.quoted()) {
      throw SagittaException.invalid(
          "id " + Names.quote(id.text()) + " is a number, expected a string");
    }
    return PointId.parse(type, id.text());
  }

  /** The ids in the order asked. */
  public static List<PointId> of(IdType type, List<IdText> ids) {
    List<PointId> parsed = new ArrayList<>(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      try {
        parsed.add(of(type, ids.get(i)));
      } catch (SagittaException e) {
        throw new SagittaException(e.code(), "ids[" + i + "]: " + e.getMessage(), e);
      }
    }
    return parsed;
  }
}
