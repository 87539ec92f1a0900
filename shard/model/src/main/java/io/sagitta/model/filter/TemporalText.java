// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model.filter;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.TemporalAccessor;

/**
 * Dates and times as text (RFC 3339): without a zone UTC, never the server's; a date alone is its
 * midnight; an impossible date is refused.
 */
public final class TemporalText {
  private static final BigDecimal MICROS = BigDecimal.valueOf(1_000_000);

  private static final DateTimeFormatter FORMAT =
      new DateTimeFormatterBuilder()
          .parseCaseInsensitive()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .optionalStart()
          .appendLiteral('T')
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .optionalStart()
          .appendOffset("+HH:MM", "Z")
          .optionalEnd()
          .optionalEnd()
          .toFormatter(java.util.Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT);

  private TemporalText() {}

  /** Microseconds since the epoch, with what lies below a microsecond as fraction. */
  public static BigDecimal micros(String text) {
    try {
      String iso = text.length() > 10 && text.charAt(10) == ' ' ? spaced(text) : text;
      TemporalAccessor parsed =
          FORMAT.parseBest(iso, OffsetDateTime::from, LocalDateTime::from, LocalDate::from);
      OffsetDateTime utc =
          switch (parsed) {
            case OffsetDateTime time -> time;
            case LocalDateTime time -> time.atOffset(ZoneOffset.UTC);
            default -> ((LocalDate) parsed).atStartOfDay().atOffset(ZoneOffset.UTC);
          };
      return BigDecimal.valueOf(utc.toEpochSecond())
          .multiply(MICROS)
          .add(BigDecimal.valueOf(utc.getNano(), 3));
    } catch (DateTimeException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT,
          Names.quote(text) + " is no date or time, expected such as 2024-03-10T00:30:00+01:00",
          e);
    }
  }

  private static String spaced(String text) {
    return text.substring(0, 10) + "T" + text.substring(11);
  }
}
