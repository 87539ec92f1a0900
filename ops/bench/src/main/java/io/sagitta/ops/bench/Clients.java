// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench;

import io.sagitta.flight.client.SagittaClient;
import java.time.Duration;
import java.util.List;

/** Clients of a cluster that shares this machine with them, which may be slow at times. */
public final class Clients {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private Clients() {}

  /** A client that knows these endpoints. */
  public static SagittaClient of(List<String> endpoints) {
    return SagittaClient.builder()
        .endpoints(endpoints.toArray(String[]::new))
        .timeout(PATIENCE)
        .build();
  }
}
