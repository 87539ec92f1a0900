// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import java.time.Duration;
import java.util.Optional;

/**
 * One port.
 *
 * @param host address to bind; loopback unless the port is secured
 * @param port 0 for any free one
 * @param tls absent: plain text
 * @param memoryBytesMax what messages in and out may take of Arrow memory, all calls together; over
 *     it a call fails with UNAVAILABLE
 * @param callTimeout how long a call without a deadline of its own may take
 * @param drainTimeout how long calls may still run once the port is closing
 */
public record PortConfig(
    String host,
    int port,
    Optional<TlsConfig> tls,
    long memoryBytesMax,
    Duration callTimeout,
    Duration drainTimeout) {

  /** Loopback, plain text, 512 MiB, 30 s for a call, 30 s to drain. */
  public static PortConfig loopback(int port) {
    return new PortConfig(
        "127.0.0.1",
        port,
        Optional.empty(),
        512L << 20,
        Duration.ofSeconds(30),
        Duration.ofSeconds(30));
  }
}
