// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Field;
import io.sagitta.model.Names;
import io.sagitta.model.PayloadField;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.model.VectorField;
import java.util.Locale;

/**
 * A collection met by a put that says {@code create}. Whoever sends the same {@code create} with
 * every put goes on; whoever asks for something else must not be left to think that it was made.
 *
 * <p>Compared is what would have been created: the type of ids, and each field by its name. Shards
 * and replicas count only where they are given, since what they are otherwise depends on the
 * cluster. Fields that the collection has beyond those asked for are no difference: they may have
 * been added later.
 */
public final class ExistingCollection {
  private ExistingCollection() {}

  /**
   * Passes a collection that is as asked.
   *
   * @throws SagittaException ALREADY_EXISTS naming the first difference, what it is and what was
   *     asked for
   */
  public static ShardMap.Collection requireAsAsked(ShardMap.Collection there, CreateSpec asked) {
    CollectionSchema schema = there.schema();
    String name = there.name();
    same(name, "id", schema.idType(), asked.schema().idType());
    for (Field field : asked.schema().fields()) {
      String what = "field " + Names.quote(field.name());
      Field found =
          schema
              .field(field.name())
              .orElseThrow(() -> differs(name, what, "missing", shown(type(field))));
      same(name, what + ": type", type(found), type(field));
      if (found instanceof VectorField has && field instanceof VectorField wants) {
        same(name, what + ": dim", has.dimension(), wants.dimension());
        same(name, what + ": metric", has.metric(), wants.metric());
        same(name, what + ": nullable", has.nullable(), wants.nullable());
        same(name, what + ": storage", has.storage(), wants.storage());
      }
    }
    if (asked.shards().isPresent()) {
      same(name, "shards", there.shards().size(), asked.shards().getAsInt());
    }
    int replicas = asked.replicas().orElse(0);
    if (replicas != 0) {
      int wanted = there.replicasWanted();
      same(name, "replicas", wanted == 0 ? "auto" : (Object) wanted, replicas);
    }
    return there;
  }

  /** Its type as {@code create} takes it; a vector of float32 is not the payload type float32. */
  private static String type(Field field) {
    return switch (field) {
      case VectorField vector -> "vector of " + shown(vector.type());
      case PayloadField payload -> payload.type().text();
    };
  }

  private static void same(String collection, String what, Object is, Object asked) {
    if (!is.equals(asked)) {
      throw differs(collection, what, shown(is), shown(asked));
    }
  }

  private static SagittaException differs(String collection, String what, String is, String asked) {
    return new SagittaException(
        ErrorCode.ALREADY_EXISTS,
        "collection %s exists and is not what 'create' asks for: %s is %s, asked for %s"
            .formatted(Names.quote(collection), what, is, asked));
  }

  private static String shown(Object value) {
    return value instanceof Enum<?> name
        ? name.name().toLowerCase(Locale.ROOT)
        : String.valueOf(value);
  }
}
