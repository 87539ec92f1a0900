// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A filter as it was asked: text and the values of its parameters.
 *
 * @param text SQL expression, at most 1 MiB; {@code $1} is the first parameter
 * @param params values: Long, BigInteger, Double, BigDecimal, Boolean, String, null, or a List of
 *     these
 */
public record FilterText(String text, List<Object> params) {
  /** UTF-8 bytes a filter's text may have. */
  public static final int TEXT_BYTES_MAX = 1 << 20;

  public FilterText {
    params = Collections.unmodifiableList(new ArrayList<>(params));
  }
}
