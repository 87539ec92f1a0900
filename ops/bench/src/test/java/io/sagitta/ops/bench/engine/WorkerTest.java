// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.ops.bench.process.ClusterException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerTest {
  @TempDir private Path folder;

  private Worker shell(String script) throws IOException {
    return Worker.start("shell", List.of("sh", "-c", script), folder);
  }

  @Test
  void anAnswerIsTheNextLine() throws IOException {
    try (Worker worker = shell("while read request; do echo \"{\\\"heard\\\":$request}\"; done")) {
      assertThat(worker.ask(Worker.request("about")).toString())
          .isEqualTo("{\"heard\":{\"op\":\"about\"}}");
      assertThat(worker.pssBytes()).isPositive();
    }
  }

  @Test
  void aContenderThatFailsIsNamedWithItsReason() throws IOException {
    try (Worker worker = shell("read request; echo '{\"error\":\"no room\"}'")) {
      assertThatThrownBy(() -> worker.ask(Worker.request("open")))
          .isInstanceOf(ClusterException.class)
          .hasMessage("shell: no room");
    }
  }

  @Test
  void aProcessThatEndsIsNamedWithWhatItPrinted() throws IOException {
    try (Worker worker = shell("read request; echo 'segmentation fault' >&2; exit 3")) {
      assertThatThrownBy(() -> worker.ask(Worker.request("open")))
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("shell ended: segmentation fault");
    }
  }

  @Test
  void aWorkerOfTheJvmSaysWhatItIs() throws IOException {
    try (Worker worker = Worker.start("none", Peer.java("none"), folder)) {
      JsonNode about = worker.ask(Worker.request("about"));
      assertThat(about.path("version").asText())
          .isEqualTo("java " + System.getProperty("java.version"));
      assertThat(about.path("kernels").asText()).matches("vector-(128|256|512)|scalar");
      assertThatThrownBy(() -> worker.ask(Worker.request("dance")))
          .hasMessage("none: unknown operation");
    }
  }
}
