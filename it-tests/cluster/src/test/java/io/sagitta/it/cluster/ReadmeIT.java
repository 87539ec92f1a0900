// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sagitta.it.cluster.Launcher.Run;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.process.ClusterProcesses.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README shows works as it stands, on one node: pyarrow, and the command line. */
class ReadmeIT {
  private static final Path ROOT = Path.of(System.getProperty("sagitta.root"));
  private static final String PYARROW = "pyarrow==25.0.1";
  private static final Duration STEP = Duration.ofMinutes(5);

  @TempDir private Path folder;

  /** The code of a README section's first block in a language ("" where none is named). */
  private static String block(String section, String language) throws IOException {
    Matcher block =
        Pattern.compile(
                "^## " + Pattern.quote(section) + "$.*?^```" + language + "\\R(.*?)^```$",
                Pattern.DOTALL | Pattern.MULTILINE)
            .matcher(Files.readString(ROOT.resolve("README.md")));
    assertThat(block.find()).as("the README has code under '%s'", section).isTrue();
    return block.group(1);
  }

  /** Python of a virtual environment with pyarrow, made once for this build folder. */
  private static Path python() throws IOException, InterruptedException {
    Path environment = ROOT.resolve("it-tests/cluster/target/venv");
    Path python = environment.resolve("bin/python");
    Path made = environment.resolve(PYARROW);
    if (!Files.exists(made)) {
      Run venv = Launcher.run(STEP, List.of("python3", "-m", "venv", environment.toString()));
      assertThat(venv.code()).as(venv.err()).isZero();
      Run pip =
          Launcher.run(
              STEP, List.of(python.toString(), "-m", "pip", "install", "--quiet", PYARROW));
      assertThat(pip.code()).as(pip.err()).isZero();
      Files.createFile(made);
    }
    return python;
  }

  private static void assumePython() {
    boolean there;
    try {
      there = Launcher.run(STEP, List.of("python3", "-c", "import venv, ensurepip")).code() == 0;
    } catch (IOException e) {
      there = false;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(there || System.getenv("CI") == null).as("CI must have Python").isTrue();
    assumeTrue(there, "SKIPPED: python3 with venv is missing");
  }

  /** As a reader does who tries it, and tries it again. */
  @Test
  void itsCodeRunsInOrderAsItStandsAndThenOnceMore() throws Exception {
    assumePython();
    Path python = python();
    try (ClusterProcesses cluster = ClusterProcesses.start(Plan.in(folder.resolve("cluster")), 1)) {
      String endpoint = cluster.endpoints().getFirst();
      Path script = folder.resolve("readme.py");
      String lines = block("With nothing but pyarrow", "python");
      assertThat(lines).contains("127.0.0.1:8815");
      Files.writeString(script, lines.replace("127.0.0.1:8815", endpoint));
      Path commands = folder.resolve("readme.sh");
      Files.writeString(
          commands,
          "set -eu\ncd %s\nexport SAGITTA_ENDPOINT=%s\n"
                  .formatted(System.getProperty("sagitta.home"), endpoint)
              + block("From the shell", ""));
      for (int round = 1; round <= 2; round++) {
        Run run = Launcher.run(STEP, List.of(python.toString(), script.toString()));
        assertThat(run.code()).as("round %d: %s", round, run.err()).isZero();
        assertThat(run.out())
            .contains("'id': [1, 2]")
            .contains("'title': ['Alien', 'Heat']")
            .contains("'_score': [0.99");
        Run shell = Launcher.run(STEP, List.of("bash", commands.toString()));
        assertThat(shell.code()).as("round %d: %s%s", round, shell.out(), shell.err()).isZero();
        assertThat(shell.out())
            .contains("Alien")
            .contains("Heat")
            .containsSubsequence("dropped films", "created films");
      }
    }
  }

  @Test
  @Tag("B049")
  @Tag("B045")
  void theCommandLineSaysWhatHappenedByItsExitCode() throws Exception {
    try (ClusterProcesses cluster = ClusterProcesses.start(Plan.in(folder.resolve("cluster")), 1)) {
      String endpoint = cluster.endpoints().getFirst();
      assertThat(ctl(endpoint, "create", "films", "--field", "plot:float32[3]:cosine").code())
          .isZero();
      assertThat(ctl(endpoint, "count", "films").out()).isEqualToIgnoringNewLines("0");
      assertFails(4, ctl(endpoint, "create", "films", "--field", "plot:float32[3]:cosine"));
      assertFails(2, ctl(endpoint, "search", "films", "--vector", "1,2"));
      assertFails(2, ctl(endpoint, "create", "../x", "--field", "plot:float32[3]"));
      assertFails(3, ctl(endpoint, "describe", "nothing"));
      assertFails(3, ctl(endpoint, "drop", "nothing"));
      assertThat(ctl(endpoint, "verify", "films").code()).isZero();
      assertThat(ctl(endpoint, "status", "--json").json().path("nodes")).hasSize(1);
      Run json = ctl(endpoint, "describe", "nothing", "--json");
      assertThat(json.json().at("/error/code").asText()).isEqualTo("sagitta.NOT_FOUND");
      assertThat(ctl(endpoint, "drop", "films").code()).isZero();
      cluster.killAll();
      assertFails(7, ctl(endpoint, "status", "--timeout", "3s"));
    }
  }

  private static Run ctl(String endpoint, String... args) throws Exception {
    String[] all = new String[args.length + 3];
    all[0] = "ctl";
    System.arraycopy(args, 0, all, 1, args.length);
    all[args.length + 1] = "--endpoint";
    all[args.length + 2] = endpoint;
    return Launcher.run(Duration.ofMinutes(2), all);
  }

  private static void assertFails(int code, Run run) {
    assertThat(run.code()).as(run.err()).isEqualTo(code);
    assertThat(run.err().lines()).as(run.err()).hasSize(1);
    assertThat(run.err()).doesNotContain("Exception").doesNotContain("\tat ");
    assertThat(run.out()).isEmpty();
  }
}
