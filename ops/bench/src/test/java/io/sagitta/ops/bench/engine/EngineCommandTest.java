// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.ErrorCode;
import io.sagitta.ops.bench.BenchMain;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class EngineCommandTest {

  private record Ran(int code, String out, String err) {}

  private static Ran run(String... options) {
    String[] command = new String[options.length + 2];
    command[0] = "bench";
    command[1] = "engine";
    System.arraycopy(options, 0, command, 2, options.length);
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ByteArrayOutputStream logged = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
    try {
      int code = BenchMain.run(command);
      return new Ran(
          code, printed.toString(StandardCharsets.UTF_8), logged.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  private static void assertRefused(String reason, String... options) {
    Ran ran = run(options);
    assertThat(ran.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT.exitCode());
    assertThat(ran.err()).contains(reason);
    assertThat(ran.out()).isEmpty();
  }

  @Test
  void anUnknownLaneIsRefusedWithThoseThereAre() {
    assertRefused(
        "--lane: no lane 'glove'; there are glove-100, minilm-384, hard-384, ood-100, ood-384",
        "--lane",
        "glove");
  }

  @Test
  void anUnknownPeerIsRefusedWithThoseThereAre() {
    assertRefused("--peer: no peer 'annoy'; there are sagitta,", "--peer", "hnswlib,annoy");
  }

  @Test
  void anUnknownFigureIsRefusedWithThoseThereAre() {
    assertRefused(
        "--figure: no figure 'speed'; there are search, first, cores, memory", "--figure", "speed");
  }

  @Test
  void countsOutOfRangeAreRefused() {
    assertRefused("--launches 0: 1 to 99", "--launches", "0");
    assertRefused("--queries 99: at least 100", "--queries", "99");
  }

  @Test
  void aRefusalIsOneJsonObjectToo() {
    Ran ran = run("--launches", "0", "--json", "--seed", "7");
    assertThat(ran.out().lines()).hasSize(1);
    assertThat(ran.out())
        .startsWith("{\"ok\":false,\"seed\":7,")
        .contains("\"error\":\"--launches 0: 1 to 99\"");
  }

  @Test
  void widthOfTheKernelsIsReadFromTheirName() {
    assertThat(EngineCommand.vectorBits("vector-512")).isEqualTo(512);
    assertThat(EngineCommand.vectorBits("scalar")).isZero();
  }
}
