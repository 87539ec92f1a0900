// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.util.regex.Pattern;

/**
 * The rule for names within a shard's directory: {@code name} or {@code directory/name}, each of
 * letters, digits, dot, dash and underscore, beginning with a letter or digit. So a name that a
 * peer sends cannot lead out of the directory.
 */
public final class FileNames {
  public static final String RULE = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";

  private static final Pattern NAME = Pattern.compile("(?:" + RULE + "/)?" + RULE);
  private static final Pattern DIRECTORY = Pattern.compile(RULE);

  private FileNames() {}

  /** Whether a name keeps the rule. */
  public static boolean isValid(String name) {
    return NAME.matcher(name).matches();
  }

  /**
   * The name itself.
   *
   * @throws IllegalArgumentException when it breaks the rule
   */
  public static String check(String name) {
    if (!isValid(name)) {
      throw new IllegalArgumentException("file name is not allowed, expected " + RULE);
    }
    return name;
  }

  /** As {@link #check} for a directory: no slash, or empty for the store's own. */
  static String checkDirectory(String directory) {
    if (!directory.isEmpty() && !DIRECTORY.matcher(directory).matches()) {
      throw new IllegalArgumentException("directory name is not allowed, expected " + RULE);
    }
    return directory;
  }

  /** The directory a file lies in; empty for the store's own. */
  static String directory(String name) {
    return name.substring(0, Math.max(0, name.indexOf('/')));
  }
}
