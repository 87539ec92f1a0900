// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import org.apache.arrow.flight.FlightRuntimeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where bugs are written down. The caller is told INTERNAL and no more, so that the trace must be
 * in the log of the process in which it happened. The endpoints ask this once a call, where they
 * turn its failure into an answer; what another node answered with has no cause here and is in that
 * node's log.
 */
final class BugLog {
  private static final Logger log = LoggerFactory.getLogger(BugLog.class);

  private BugLog() {}

  /**
   * Logs a failure that nobody meant, with its trace; does nothing for any other.
   *
   * @param call what was asked, as the log names it: the verb
   * @return the failure
   */
  static Throwable logged(String call, Throwable failure) {
    Throwable cause = FlightErrors.unwrap(failure);
    boolean bug =
        switch (cause) {
          case SagittaException error ->
              error.code() == ErrorCode.INTERNAL && error.getCause() != null;
          case NotLeaderException everyDay -> false; // by the hundred while a leader changes
          case FlightRuntimeException answered -> false;
          default -> true;
        };
    if (bug) {
      log.error("{} failed as it never should, and was answered with INTERNAL", call, cause);
    }
    return failure;
  }
}
