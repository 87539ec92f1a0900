// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import java.util.Optional;

/**
 * Decides who calls, before any body is read. Called on the transport's own thread: it must not
 * block.
 */
public interface Authenticator {

  /**
   * The caller.
   *
   * @throws io.sagitta.model.SagittaException UNAUTHENTICATED or PERMISSION_DENIED
   */
  Caller authenticate(Attempt attempt);

  /**
   * A call as it arrives.
   *
   * @param method full name, such as {@code arrow.flight.protocol.FlightService/DoGet}
   * @param callClass what it needs
   * @param bearerToken of the {@code authorization} header
   * @param certificateSubject of the client's TLS certificate, where one was asked for and verified
   */
  record Attempt(
      String method,
      CallClass callClass,
      Optional<String> bearerToken,
      Optional<String> certificateSubject) {}

  /** For a port on loopback, or on a network the operator has called private. */
  Authenticator OPEN = attempt -> Caller.ANONYMOUS;
}
