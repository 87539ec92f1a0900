// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.NodeConfig.Membership;
import io.sagitta.node.NodeConfig.Ports;
import io.sagitta.node.NodeConfig.Security;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
  private static final Path FOLDER = Path.of("/somewhere");

  private static NodeConfig parse(String yaml) {
    return ConfigFile.parse("node.yaml", yaml, FOLDER);
  }

  @Test
  void aFolderAndAWayIntoAClusterAreEnough() {
    NodeConfig config = parse("data_dir: data\nbootstrap: true\n");
    assertThat(config.dataDir()).isEqualTo(Path.of("/somewhere/data"));
    assertThat(config.ports()).isEqualTo(Ports.from(8815));
    assertThat(config.security()).isEqualTo(Security.LOOPBACK);
    assertThat(config.limits().groups()).isEqualTo(64);
    assertThat(config.membership()).isEqualTo(new Membership.Bootstrap());
  }

  @Test
  void theExampleHoldsEveryKeyAndTheDefaults() throws IOException {
    try (InputStream in = NodeConfig.class.getResourceAsStream("/node-example.yaml")) {
      String example = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      NodeConfig explained = parse(example);
      NodeConfig defaults = parse("data_dir: ./sagitta-data\nbootstrap: true\n");
      assertThat(explained.ports()).isEqualTo(defaults.ports());
      assertThat(explained.timeouts()).isEqualTo(defaults.timeouts());
      assertThat(explained.disk()).isEqualTo(defaults.disk());
      assertThat(explained.log()).isEqualTo(defaults.log());
      assertThat(explained.security()).isEqualTo(defaults.security());
      assertThat(explained.dataDir()).isEqualTo(defaults.dataDir());
    }
  }

  @Test
  void membersAreHostsAndPorts() {
    NodeConfig config = parse("data_dir: d\njoin: ['10.0.0.1:8816', '[::1]:9']\n");
    assertThat(config.membership())
        .isEqualTo(
            new Membership.Join(List.of(new HostPort("10.0.0.1", 8816), new HostPort("::1", 9))));
  }

  @Test
  void sizesMayCarryUnits() {
    NodeConfig config = parse("data_dir: d\nbootstrap: true\nmemory: {growing_bytes: 64MiB}\n");
    assertThat(config.memory().growingBytes()).isEqualTo(64L << 20);
    assertThat(config.memory().residentBytes()).isPositive();
    long machine =
        ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getTotalMemorySize();
    assertThat(Runtime.getRuntime().maxMemory() + config.memory().residentBytes())
        .isLessThan(machine);
  }

  @Test
  void whatStartWritesIsWhatANodeReads() {
    Ports ports = Ports.from(9000);
    Membership join = new Membership.Join(List.of(new HostPort("127.0.0.1", 8816)));
    NodeConfig config = parse(ConfigFile.localYaml(Path.of("/data/it's here"), ports, join));
    assertThat(config.dataDir()).isEqualTo(Path.of("/data/it's here"));
    assertThat(config.ports()).isEqualTo(ports);
    assertThat(config.membership()).isEqualTo(join);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "bootstrap: true | node.yaml: 'data_dir' is missing",
        "data_dri: d | unknown key 'data_dri', did you mean 'data_dir'?",
        "data_dir: d\\nboostrap: true | unknown key 'boostrap', did you mean 'bootstrap'?",
        "data_dir: d\\nbootstrap: true\\nport: {} | unknown key 'port', did you mean 'ports'?",
        "data_dir: d\\nbootstrap: true\\nports: {fligt: 1} | unknown key 'ports.fligt', did you mean 'ports.flight'?",
        "data_dir: d\\nbootstrap: true\\nports: {flight: 8816} | must differ",
        "data_dir: d\\nbootstrap: true\\nports: {flight: 70000} | 'ports.flight' is 70000, expected 1..65535",
        "data_dir: d\\nbootstrap: true\\nports: {flight: x} | 'ports.flight' is 'x', expected a whole number",
        "data_dir: d | give exactly one",
        "data_dir: d\\nbootstrap: true\\njoin: [a:1] | give exactly one",
        "data_dir: d\\njoin: [8816] | expects a list of texts",
        "data_dir: d\\njoin: ['host'] | holds 'host', expected host:port",
        "data_dir: d\\nbootstrap: yes please | 'bootstrap' expects true or false",
        "data_dir: d\\nbootstrap: true\\nhost: 192.0.2.1 | is not a loopback address",
        "data_dir: d\\nbootstrap: true\\nsecurity: off | expects text",
        "data_dir: d\\nbootstrap: true\\nsecurity: none | expected one of [loopback, insecure-private-network]",
        "data_dir: d\\nbootstrap: true\\nsecurity: insecure-private-network\\nhost: 0.0.0.0 | 'advertised_host' is a wildcard",
        "data_dir: d\\nbootstrap: true\\nmemory: {growing_bytes: 64MB} | expected a whole number or one such as 64MiB",
        "data_dir: d\\nbootstrap: true\\ndisk: {warn_percent: 99} | must not be above refuse_percent",
        "data_dir: d\\ndata_dir: e\\nbootstrap: true | not YAML: Duplicate",
        "just text | expected keys and values",
        "a: [1 | not YAML",
      })
  void whatIsWrongIsSaidInOneLine(String yaml, String message) {
    assertThatThrownBy(() -> parse(yaml.replace("\\n", "\n")))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("node.yaml")
        .hasMessageContaining(message)
        .message()
        .doesNotContain("\n");
  }
}
