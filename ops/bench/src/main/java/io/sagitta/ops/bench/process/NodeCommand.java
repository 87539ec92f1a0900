// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The command that runs a node: the JVM that runs this, the options that the launcher gives to
 * {@code node}, and the jars of the distribution, or of this process where there is none.
 */
final class NodeCommand {
  /** What the launcher script passes to any JVM that runs Sagitta; a test compares the two. */
  static final List<String> JVM_OPTIONS =
      List.of(
          "--add-modules=jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "-Darrow.allocation.manager.type=Unsafe",
          "-XX:+ExitOnOutOfMemoryError");

  /** What it adds for a node. */
  static final List<String> NODE_OPTIONS =
      List.of("-Xms256m", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=8m");

  private static final String MAIN = "io.sagitta.node.NodeMain";

  private NodeCommand() {}

  static List<String> of(NodeSettings node, Path configuration, boolean led) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM_OPTIONS);
    command.addAll(NODE_OPTIONS);
    command.add("-Xmx" + node.heap());
    command.addAll(quickStart());
    node.properties().forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.add("-cp");
    command.add(classPath());
    command.add(MAIN);
    command.add("node");
    command.add("--config");
    command.add(configuration.toString());
    if (led) {
      command.add("--led");
    }
    return node.group().map(group -> group.entering(command)).orElse(command);
  }

  /** The cache of loaded classes that the launcher's build has made, where there is one. */
  private static List<String> quickStart() {
    Optional<Path> cache = distribution().map(home -> home.resolve("node.aot"));
    return cache.filter(Files::isRegularFile).isPresent()
        ? List.of("-XX:AOTCache=" + cache.get(), "-Xlog:aot=off", "-Xlog:cds=off")
        : List.of();
  }

  private static String classPath() {
    return distribution()
        .map(home -> home.resolve("lib").resolve("*").toString())
        .orElseGet(() -> System.getProperty("java.class.path"));
  }

  /** The folder that {@code lib} lies in. */
  private static Optional<Path> distribution() {
    String home = System.getProperty("sagitta.home", "");
    if (home.isEmpty()) {
      return Optional.empty();
    }
    return Stream.of(Path.of(home), Path.of(home, "ops/image/target/sagitta"))
        .filter(folder -> Files.isDirectory(folder.resolve("lib")))
        .findFirst();
  }
}
