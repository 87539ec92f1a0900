// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.Field;
import io.sagitta.model.VectorField;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Which fields an answer has: those asked for, in schema order; by default all but vectors. */
public final class AnswerFields {
  /**
   * Columns that every answer has, or has where they mean something; asking for them adds nothing.
   */
  public static final String VERSION = "_version";

  public static final String SCORE = "_score";
  public static final String QUERY = "query";

  private static final Set<String> ALWAYS = Set.of(CollectionSchema.ID, VERSION, SCORE);

  private AnswerFields() {}

  /** As below, and the field that hits are grouped by: each says which group it is of. */
  public static List<String> of(
      CollectionSchema schema, Optional<List<String>> asked, Optional<String> groupBy) {
    if (asked.isEmpty() || groupBy.isEmpty()) {
      return of(schema, asked);
    }
    List<String> both = new ArrayList<>(asked.get());
    both.add(groupBy.get());
    return of(schema, Optional.of(both));
  }

  /**
   * Names of the fields to return.
   *
   * @throws io.sagitta.model.SagittaException INVALID_ARGUMENT naming a field that is not in the
   *     schema
   */
  public static List<String> of(CollectionSchema schema, Optional<List<String>> asked) {
    if (asked.isEmpty()) {
      return schema.fields().stream()
          .filter(field -> !(field instanceof VectorField))
          .map(Field::name)
          .toList();
    }
    Set<String> names = new HashSet<>(asked.get());
    names.removeAll(ALWAYS);
    names.forEach(schema::requireField);
    return schema.fields().stream().map(Field::name).filter(names::contains).toList();
  }
}
