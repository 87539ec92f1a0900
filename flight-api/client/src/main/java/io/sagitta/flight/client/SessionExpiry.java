// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads SESSION_EXPIRED: a shard may have forgotten the writer, so that the batch was not applied
 * now but perhaps earlier. Read first; then go on with a writer opened after the horizon.
 */
public final class SessionExpiry {
  private static final Pattern AFTER = Pattern.compile("\\{\"after\": ?(\\d+)}");

  private SessionExpiry() {}

  /** The opening time that a new writer must exceed. */
  public static OptionalLong horizonMs(SagittaException error) {
    if (error.code() != ErrorCode.SESSION_EXPIRED) {
      return OptionalLong.empty();
    }
    Matcher after = AFTER.matcher(error.getMessage());
    return after.find() ? OptionalLong.of(Long.parseLong(after.group(1))) : OptionalLong.empty();
  }
}
