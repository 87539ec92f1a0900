// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Parameters of a filter as a JSON array. Numbers stay exact: an integer comes back as Long or
 * BigInteger, a decimal or double as a BigDecimal of the very same value.
 */
public final class FilterParams {
  private FilterParams() {}

  public static String print(List<Object> params) {
    byte[] json = Commands.write(out -> CommandWriter.value(params, out));
    return new String(json, StandardCharsets.UTF_8);
  }

  /** Reads {@link #print}; anything but an array is INVALID_ARGUMENT. */
  public static List<Object> parse(String json) {
    try (StrictJson in = StrictJson.open(json.getBytes(StandardCharsets.UTF_8), "params")) {
      List<Object> params = CommandReader.params(in);
      in.end();
      return params;
    }
  }
}
