// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as a process of its own, where nobody has set up its logs beforehand. */
class CtlMainTest {
  @TempDir Path folder;

  @Test
  @Tag("B049")
  void aHostThatDoesNotResolveIsOneLine() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-Darrow.allocation.manager.type=Unsafe",
            "-cp",
            System.getProperty("java.class.path"),
            CtlMain.class.getName(),
            "--endpoint",
            "nohost.invalid:1",
            "--timeout", // it is looked up again and again until then
            "3s",
            "status"));
    Path err = folder.resolve("err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(folder.resolve("out").toFile())
            .redirectError(err.toFile())
            .start();
    assertThat(process.waitFor()).isEqualTo(ErrorCode.UNAVAILABLE.exitCode());
    List<String> lines =
        Files.readAllLines(err, StandardCharsets.UTF_8).stream()
            .filter(line -> !line.startsWith("WARNING: ")) // The JVM's own, of sun.misc.Unsafe.
            .toList();
    assertThat(lines).hasSize(1);
    assertThat(lines.getFirst()).startsWith("sagitta ctl: ").contains("nohost.invalid");
  }
}
