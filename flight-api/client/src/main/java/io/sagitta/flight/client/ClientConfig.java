// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.model.SagittaException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a client knows of its cluster.
 *
 * @param endpoints any nodes; each can answer everything, the first that does is kept
 * @param timeout longest time of one call, its retries included
 * @param scanTimeout longest time of one scan
 * @param tls authorities that vouch for the nodes; absent: plain text
 * @param token bearer token sent with every call
 */
public record ClientConfig(
    List<Endpoint> endpoints,
    Duration timeout,
    Duration scanTimeout,
    Optional<Path> tls,
    Optional<String> token) {
  public ClientConfig {
    endpoints = List.copyOf(endpoints);
    if (endpoints.isEmpty()) {
      throw SagittaException.invalid("a client needs at least one endpoint");
    }
  }
}
