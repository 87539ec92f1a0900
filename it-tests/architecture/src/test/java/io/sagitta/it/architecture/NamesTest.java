// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Names that say something, and a first page for each package. */
class NamesTest {

  private static final Set<String> EMPTY_WORDS =
      Set.of(
          "util", "utils", "common", "commons", "helper", "helpers", "manager", "managers", "misc");

  private static final Pattern WORD = Pattern.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+");

  @Test
  void noPackageOrClassIsNamedByAnEmptyWord() {
    Set<String> found = new TreeSet<>();
    for (Path file : Sources.javaFiles()) {
      Path inPackage = Sources.inPackage(file);
      for (Path name : inPackage) {
        if (hasEmptyWord(name.toString().replace(".java", ""))) {
          found.add(file.toString());
        }
      }
    }
    assertThat(found)
        .as("util, common, helper and manager say nothing: name it by the noun it serves")
        .isEmpty();
  }

  @Test
  void everyPackageHasAPackageInfo() {
    List<Path> without =
        Sources.packageFolders().stream().filter(folder -> !hasPackageInfo(folder)).toList();
    assertThat(without)
        .as("add a package-info.java: what it owns, its invariants, which class to read first")
        .isEmpty();
  }

  private static boolean hasEmptyWord(String name) {
    return WORD.matcher(name)
        .results()
        .map(word -> word.group().toLowerCase(Locale.ROOT))
        .anyMatch(EMPTY_WORDS::contains);
  }

  /** Tests of a package stand in the same package, so its page in main serves both. */
  private static boolean hasPackageInfo(Path folder) {
    Path inMain =
        Sources.module(folder)
            .resolve(Path.of("src", "main", "java"))
            .resolve(Sources.inPackage(folder));
    return Files.exists(Sources.ROOT.resolve(folder).resolve("package-info.java"))
        || Files.exists(Sources.ROOT.resolve(inMain).resolve("package-info.java"));
  }
}
