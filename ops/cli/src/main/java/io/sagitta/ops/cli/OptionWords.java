// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Puts messages about keys of a request into the words of the command line: {@code 'search.k' is 0}
 * becomes {@code -k is 0}. Only what names its verb, or stands where the protocol's reader puts a
 * key, is touched: a collection that happens to be called 'filter' keeps its name.
 */
final class OptionWords {
  private static final Map<String, String> WORDS =
      Map.ofEntries(
          Map.entry("collection", "NAME"),
          Map.entry("field", "--field"),
          Map.entry("vector", "--vector"),
          Map.entry("like", "--like"),
          Map.entry("k", "-k"),
          Map.entry("offset", "--offset"),
          Map.entry("filter", "--filter"),
          Map.entry("params", "--param"),
          Map.entry("recall", "--recall"),
          Map.entry("ef", "--ef"),
          Map.entry("exact", "--exact"),
          Map.entry("min_score", "--min-score"),
          Map.entry("max_distance", "--max-distance"),
          Map.entry("group_by", "--group-by"),
          Map.entry("group_size", "--group-size"),
          Map.entry("consistency", "--consistency"),
          Map.entry("token", "--token"),
          Map.entry("max_staleness_ms", "--max-staleness"),
          Map.entry("timeout_ms", "--timeout"),
          Map.entry("explain", "--explain"),
          Map.entry("partial", "--partial"),
          Map.entry("ids", "ID"),
          Map.entry("id", "--id"),
          Map.entry("cursor", "--cursor"),
          Map.entry("limit", "--limit"),
          Map.entry("shards", "--shards"),
          Map.entry("replicas", "--replicas"));

  private static final Pattern QUALIFIED = Pattern.compile("'(\\w+)\\.(\\w+)((?:[.\\[][^' ]*)?)'");
  private static final Pattern QUOTED = Pattern.compile("'(\\w+)'");
  private static final Pattern LEADING = Pattern.compile("^(?:\\w+: )?(key )?'(\\w+)'");

  private OptionWords() {}

  /** The message as the command {@code verb} should print it. */
  static String translate(String verb, String message) {
    String text = message == null ? "" : message;
    String whole = "'" + verb + "': ";
    if (text.startsWith(whole)) {
      // Of the request as such: all that is quoted in it are keys.
      return QUOTED
          .matcher(text.substring(whole.length()))
          .replaceAll(
              match ->
                  Matcher.quoteReplacement(
                      known(match.group(1)) ? keyWord(verb, match.group(1)) : match.group()));
    }
    text = QUALIFIED.matcher(text).replaceAll(match -> Matcher.quoteReplacement(word(verb, match)));
    Matcher leading = LEADING.matcher(text);
    if (leading.find() && WORDS.containsKey(leading.group(2))) {
      String word = keyWord(verb, leading.group(2));
      text = word + text.substring(leading.end());
    }
    return text;
  }

  private static String word(String verb, MatchResult match) {
    String key = match.group(2);
    if (!match.group(1).equals(verb) || !known(key)) {
      return match.group();
    }
    String rest = match.group(3);
    return rest.isEmpty() ? keyWord(verb, key) : keyWord(verb, key) + " (" + key + rest + ")";
  }

  private static boolean known(String key) {
    return WORDS.containsKey(key) || key.equals("fields");
  }

  /** The same key may be another option elsewhere. */
  private static String keyWord(String verb, String key) {
    return switch (key) {
      case "fields" -> verb.equals("create") ? "--field" : "--fields";
      default -> WORDS.get(key);
    };
  }
}
