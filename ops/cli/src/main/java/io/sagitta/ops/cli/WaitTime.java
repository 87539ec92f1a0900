// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 500ms}, {@code 10s} or {@code 2m}; a bare number is seconds. */
final class WaitTime implements ITypeConverter<Duration> {
  private static final Pattern TEXT = Pattern.compile("(\\d{1,9})(ms|s|m|)");

  @Override
  public Duration convert(String text) {
    Matcher matcher = TEXT.matcher(text);
    Duration wait = matcher.matches() ? of(matcher) : Duration.ZERO;
    if (wait.isZero() || wait.compareTo(Duration.ofHours(1)) > 0) {
      throw new TypeConversionException(
          "'" + text + "' is not a time such as 500ms, 10s or 2m, at most one hour");
    }
    return wait;
  }

  private static Duration of(Matcher matcher) {
    long amount = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "m" -> Duration.ofMinutes(amount);
      default -> Duration.ofSeconds(amount);
    };
  }
}
