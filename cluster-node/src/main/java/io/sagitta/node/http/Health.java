// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.http;

import java.util.List;

/**
 * Whether a node may be sent requests, and what keeps it from that.
 *
 * @param causes why it is not ready, each a sentence without any user's text; empty when it is
 * @param warnings what will need care soon
 */
public record Health(List<String> causes, List<String> warnings) {
  public Health {
    causes = List.copyOf(causes);
    warnings = List.copyOf(warnings);
  }

  public boolean ready() {
    return causes.isEmpty();
  }
}
