// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** How fresh a read must be. */
final class ReadOptions {
  /** Levels as requests name them. */
  enum Consistency {
    STRONG,
    SESSION,
    BOUNDED,
    ANY
  }

  @Option(
      names = "--consistency",
      paramLabel = "LEVEL",
      description = "${COMPLETION-CANDIDATES}; default strong.")
  private Consistency consistency;

  @Option(names = "--token", paramLabel = "TOKEN", description = "With session: a write's token.")
  private String token;

  @Option(names = "--max-staleness", paramLabel = "MS", description = "With bounded: milliseconds.")
  private Long maxStalenessMs;

  void addTo(ObjectNode body) {
    if (consistency != null) {
      body.put("consistency", consistency.name().toLowerCase(Locale.ROOT));
    }
    if (token != null) {
      body.put("token", token);
    }
    if (maxStalenessMs != null) {
      body.put("max_staleness_ms", maxStalenessMs);
    }
  }

  /** {@code --fields}. */
  static final class Fields {
    @Option(
        names = "--fields",
        paramLabel = "FIELD",
        split = ",",
        description = "Fields to show, comma-separated. Default: all but vectors.")
    private List<String> fields;

    void addTo(ObjectNode body) {
      if (fields != null) {
        ArrayNode array = body.putArray("fields");
        fields.forEach(array::add);
      }
    }
  }
}
