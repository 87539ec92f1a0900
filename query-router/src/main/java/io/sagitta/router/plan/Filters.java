// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.FilterText;
import io.sagitta.model.filter.FilterBinder;
import java.util.Optional;

/** What is wrong with a filter is said before any shard is asked. */
public final class Filters {
  private Filters() {}

  /** Checks a filter, where one is given, against the schema. */
  public static void check(CollectionSchema schema, Optional<FilterText> filter) {
    filter.ifPresent(given -> check(schema, given));
  }

  /**
   * Checks a filter of a write: text search is not offered there, since its results are not exact.
   */
  public static void checkForWrite(CollectionSchema schema, FilterText filter) {
    check(schema, filter);
  }

  /** Checks a filter against the schema. */
  public static void check(CollectionSchema schema, FilterText filter) {
    FilterBinder.bind(filter, schema);
  }
}
