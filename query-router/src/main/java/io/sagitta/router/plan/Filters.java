// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.FilterText;
import io.sagitta.model.SagittaException;
import io.sagitta.model.filter.FilterBinder;
import io.sagitta.model.filter.Predicate;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What is wrong with a filter is said before any shard is asked. */
public final class Filters {
  private Filters() {}

  /** Checks a filter, where one is given. */
  public static void check(CollectionSchema schema, Optional<FilterText> filter) {
    filter.ifPresent(given -> bind(schema, given));
  }

  /**
   * Reads a filter against the schema.
   *
   * @throws SagittaException INVALID_ARGUMENT naming the place, the field or the value that is
   *     wrong; LIMIT for one that is too long, too deep or too wide
   */
  public static Predicate bind(CollectionSchema schema, FilterText filter) {
    int bytes = filter.text().getBytes(StandardCharsets.UTF_8).length;
    if (bytes > FilterText.TEXT_BYTES_MAX) {
      throw new SagittaException(
          ErrorCode.LIMIT,
          "the filter has " + bytes + " bytes, expected at most " + FilterText.TEXT_BYTES_MAX);
    }
    return FilterBinder.bind(filter, schema);
  }
}
