// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.util.regex.Pattern;

/**
 * What is wrong with a text that is no JSON, for whoever wrote it: the parser's own words without
 * those that only mean something to who configures the parser, and where, as an editor counts.
 */
public final class JsonMistake {
  /** Names of parser settings, and of the object that the text was read from. */
  private static final Pattern INTERNALS =
      Pattern.compile(
          "\\s*\\((?:start marker|for \\w+ starting) at \\[Source:[^\\]]*\\]\\)"
              + "|\\s*\\[Source:[^\\]]*\\]"
              + "|: enable `[^`]*` to allow"
              + "|,? from `[^`]*`"
              + "|\\s*\\(`[^`]*`[^)]*\\)");

  private JsonMistake() {}

  /** One line: what, at line and column. */
  public static String describe(JsonProcessingException e) {
    JsonLocation at = e.getLocation();
    String where =
        at == null || at.getLineNr() < 1
            ? ""
            : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
    return what(e) + where;
  }

  private static String what(JsonProcessingException e) {
    if (e instanceof JsonEOFException) {
      return "it ends in the middle of a value";
    }
    String words =
        INTERNALS.matcher(String.valueOf(e.getOriginalMessage())).replaceAll("").replace("`", "'");
    String line = words.lines().findFirst().orElse("").strip();
    return e instanceof StreamConstraintsException
        ? line.replaceFirst("^Document nesting depth", "the depth of nesting")
        : line;
  }
}
