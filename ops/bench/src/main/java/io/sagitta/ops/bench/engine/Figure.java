// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.util.Arrays;
import java.util.Locale;

/** What can be measured on a lane. */
enum Figure {
  /** Queries a second at equal recall, one pinned core. */
  SEARCH,
  /** The first queries of a fresh process. */
  FIRST,
  /** Queries a second with as many threads as cores. */
  CORES,
  /** Memory of the process. */
  MEMORY;

  static Figure of(String id) {
    return Arrays.stream(values())
        .filter(figure -> figure.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no figure '" + id + "'"));
  }

  /** Name in options, and of the table in the report that is not {@code lanes}. */
  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return id();
  }
}
