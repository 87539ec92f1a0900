// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ReportTest {
  private static String printed(java.util.function.Consumer<PrintStream> printing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    printing.accept(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static Report report() {
    Report report = Report.of(42).put("rows", 100_000L).put("p50_ms", 1.23456);
    report.line("runs").put("nodes", 1).put("name", "one");
    report.line("runs").put("nodes", 33).put("lost", 0);
    return report.ok(true);
  }

  @Test
  void jsonIsOneObjectOnOneLineWithVerdictSeedAndCpu() {
    String json = printed(report()::printJson);
    assertThat(json.lines()).hasSize(1);
    assertThat(json)
        .startsWith("{\"ok\":true,\"seed\":42,\"cpu\":\"")
        .contains("\"rows\":100000,\"p50_ms\":1.235")
        .contains("\"runs\":[{\"nodes\":1,\"name\":\"one\"},{\"nodes\":33,\"lost\":0}]");
  }

  @Test
  void textIsLinesAndTables() {
    String text = printed(report()::printText);
    assertThat(text)
        .contains("rows    100,000\n")
        .endsWith("\nruns:\n  nodes  name  lost\n      1  one\n     33           0\n");
  }

  @Test
  void figuresAreRoundedToWhatIsWorthReading() {
    assertThat(Report.rounded(12_345.678)).isEqualTo(12_346);
    assertThat(Report.rounded(12.345)).isEqualTo(12.3);
    assertThat(Report.rounded(0.99951)).isEqualTo(1.0);
    assertThat(Report.rounded(0.0123)).isEqualTo(0.012);
    assertThat(Report.rounded(Double.NaN)).isZero();
  }
}
