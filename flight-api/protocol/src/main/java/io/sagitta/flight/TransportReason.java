// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Why a call failed on its way, in words for a user. gRPC says "io exception" or "http2 exception"
 * and keeps what happened in the causes below; Netty names its system call before the system's
 * words.
 */
final class TransportReason {
  /** What gRPC says of any failure of its kind. */
  private static final Set<String> SAYS_NOTHING =
      Set.of(
          "io exception",
          "http2 exception",
          "unavailable",
          "unknown",
          "internal",
          "network closed for unknown reason");

  private static final Pattern STATUS =
      Pattern.compile("[A-Z_]{2,}(: (?<rest>.*))?", Pattern.DOTALL);

  private static final Pattern SYSTEM_CALL =
      Pattern.compile("\\w+\\(\\.\\.\\) failed(: | with error\\(-?\\d+\\): )", Pattern.DOTALL);

  private TransportReason() {}

  /** The first words among the failure and its causes that say what happened. */
  static String of(Throwable failure) {
    Optional<Throwable> unconnected = unconnected(failure);
    String said = unconnected.map(Throwable::getMessage).orElse(null);
    if (said != null) {
      return unconnected.get() instanceof UnknownHostException
          ? "the host is not known: " + said
          : system(said);
    }
    for (Throwable at = failure; at != null; at = at.getCause()) {
      String words = at.getMessage() == null ? "" : status(at.getMessage());
      boolean ofCause = at.getCause() != null && words.equals(at.getCause().toString());
      if (!words.isBlank() && !ofCause && !SAYS_NOTHING.contains(words.toLowerCase(Locale.ROOT))) {
        return system(words);
      }
    }
    return "the connection broke, or what listens there speaks another protocol";
  }

  /** Why no connection could be made, where that is what failed. */
  static Optional<Throwable> unconnected(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof ConnectException || at instanceof UnknownHostException) {
        return Optional.of(at);
      }
    }
    return Optional.empty();
  }

  /** A message without the status code that gRPC puts before it. */
  private static String status(String message) {
    Matcher status = STATUS.matcher(message);
    if (!status.matches()) {
      return message;
    }
    return status.group("rest") == null ? "" : status.group("rest");
  }

  private static String system(String message) {
    return SYSTEM_CALL.matcher(message).replaceFirst("");
  }
}
