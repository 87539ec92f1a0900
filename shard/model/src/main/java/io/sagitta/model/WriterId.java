// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.UUID;

/**
 * A writer whose puts take effect once. Its text, {@code <uuid>@<openedAtMs>}, is what {@code
 * open_writer} hands out and what a put carries: the opening time must travel with it, since a
 * shard accepts a writer it does not know only if that time is later than all it has ever
 * forgotten.
 *
 * @param uuid random identity
 * @param openedAtMs state time at which it was opened, milliseconds since the epoch
 */
public record WriterId(UUID uuid, long openedAtMs) {
  public static WriterId parse(String text) {
    int at = text.indexOf('@');
    try {
      if (at > 0) {
        return new WriterId(
            UuidText.parse(text.substring(0, at)), Long.parseLong(text.substring(at + 1)));
      }
    } catch (NumberFormatException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT, "'writer' " + Names.quote(text) + " is malformed", e);
    }
    throw SagittaException.invalid(
        "'writer' " + Names.quote(text) + " is malformed, expected the text given by open_writer");
  }

  @Override
  public String toString() {
    return uuid + "@" + openedAtMs;
  }
}
