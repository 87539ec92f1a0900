// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;

/** Address of a node's Flight port. */
public record Endpoint(String host, int port) {
  /** The public port's default. */
  public static final int DEFAULT_PORT = 8815;

  public Endpoint {
    if (host.isEmpty() || port < 1 || port > 65_535) {
      throw SagittaException.invalid("endpoint '" + host + ":" + port + "' is no address");
    }
  }

  /** Parses {@code host}, {@code host:port}, {@code [::1]:port} or {@code grpc://host:port}. */
  public static Endpoint parse(String text) {
    String address = text.replaceFirst("^grpc(\\+tcp|\\+tls)?://", "");
    int colon = address.lastIndexOf(':');
    boolean hasPort = colon > address.lastIndexOf(']') && address.indexOf(':') == colon;
    if (address.startsWith("[")) {
      hasPort = colon > address.lastIndexOf(']');
    }
    String host = hasPort ? address.substring(0, colon) : address;
    try {
      int port = hasPort ? Integer.parseInt(address.substring(colon + 1)) : DEFAULT_PORT;
      return new Endpoint(host.replaceAll("^\\[|]$", ""), port);
    } catch (NumberFormatException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT,
          "endpoint '" + text + "' is no address, expected host:port",
          e);
    }
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
