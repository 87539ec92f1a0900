// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
    return command;
  }

  private static String classPath() {
    String home = System.getProperty("sagitta.home", "");
    if (!home.isEmpty()) {
      for (Path lib :
          List.of(Path.of(home, "lib"), Path.of(home, "ops/image/target/sagitta/lib"))) {
        if (Files.isDirectory(lib)) {
          return lib.resolve("*").toString();
        }
      }
    }
    return System.getProperty("java.class.path");
  }
}
