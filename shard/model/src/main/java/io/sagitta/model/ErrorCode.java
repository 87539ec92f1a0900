// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * The error table of the contract (docs/contract.md, section 6), the same by Flight, HTTP and CLI.
 */
public enum ErrorCode {
  INVALID_ARGUMENT(400, 2),
  NOT_FOUND(404, 3),
  ALREADY_EXISTS(409, 4),
  CONFLICT(409, 4),
  LIMIT(413, 5),
  UNAUTHENTICATED(401, 6),
  PERMISSION_DENIED(403, 6),
  UNAVAILABLE(503, 7),
  SESSION_EXPIRED(409, 4),
  OUTCOME_UNKNOWN(504, 8),
  DEADLINE_EXCEEDED(504, 8),
  UNIMPLEMENTED(501, 9),
  CORRUPT(500, 10),
  INTERNAL(500, 10);

  private final int httpStatus;
  private final int exitCode;

  ErrorCode(int httpStatus, int exitCode) {
    this.httpStatus = httpStatus;
    this.exitCode = exitCode;
  }

  public int httpStatus() {
    return httpStatus;
  }

  /** Exit code of the command line for a failure with this code. */
  public int exitCode() {
    return exitCode;
  }

  /** The code as it stands in messages and details: {@code sagitta.INVALID_ARGUMENT}. */
  public String qualified() {
    return "sagitta." + name();
  }
}
