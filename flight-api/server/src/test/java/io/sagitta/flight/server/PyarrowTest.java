// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.it.testkit.PythonVenv;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Drives the endpoint with pyarrow itself; what it does stands in {@code flight_cases.py}. */
class PyarrowTest {
  private static final Path SCRIPTS = Path.of("src", "test", "python").toAbsolutePath();

  @Test
  void pyarrowGetsWhatTheProtocolPromises() throws Exception {
    PythonVenv python = PythonVenv.create(SCRIPTS.resolve("requirements.txt"));
    try (Served served = new Served()) {
      PythonVenv.Result result =
          python.run(
              SCRIPTS,
              List.of("flight_cases.py", "grpc://127.0.0.1:" + served.endpoint.port()),
              Map.of("SAGITTA_FAKE", "1", "PYTHONDONTWRITEBYTECODE", "1"),
              Duration.ofMinutes(3));
      assertThat(result.exitCode()).as(result.output()).isZero();
      assertThat(result.output()).contains("OK");
    }
  }
}
