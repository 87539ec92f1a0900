// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The Java files of the checkout, for rules that compiled classes cannot answer. */
final class Sources {

  static final Path ROOT = Path.of(System.getProperty("sagitta.root", "../..")).normalize();

  private static final Path MAIN = Path.of("src", "main", "java");
  private static final Path TEST = Path.of("src", "test", "java");

  private Sources() {}

  /** Folders of packages that hold Java files, relative to the checkout. */
  static Set<Path> packageFolders() {
    Set<Path> folders = new TreeSet<>();
    for (Path file : javaFiles()) {
      folders.add(file.getParent());
    }
    return folders;
  }

  /** Java files under {@code src/main/java} and {@code src/test/java}, relative to the checkout. */
  static List<Path> javaFiles() {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .map(ROOT::relativize)
          .filter(handWritten())
          .filter(file -> file.toString().endsWith(".java"))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code io/sagitta/model/PointId.java} of {@code shard/model/src/main/java/io/...}. */
  static Path inPackage(Path file) {
    Path root = sourceRoot(file);
    return root.relativize(file);
  }

  /** {@code shard/model} of {@code shard/model/src/main/java/io/...}. */
  static Path module(Path file) {
    Path root = sourceRoot(file);
    return root.subpath(0, root.getNameCount() - MAIN.getNameCount());
  }

  static boolean isTest(Path file) {
    return sourceRoot(file).endsWith(TEST);
  }

  private static Path sourceRoot(Path file) {
    Path folder = file;
    while (!folder.endsWith(MAIN) && !folder.endsWith(TEST)) {
      folder = folder.getParent();
    }
    return folder;
  }

  private static Predicate<Path> handWritten() {
    String main = MAIN.toString();
    String test = TEST.toString();
    return file -> {
      String path = file.toString();
      return (path.contains(main) || path.contains(test)) && !path.contains("target");
    };
  }
}
