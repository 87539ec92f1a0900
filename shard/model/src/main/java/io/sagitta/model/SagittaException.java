// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.OptionalLong;

/**
 * A refusal that a caller may see. The code decides the Flight status, the HTTP status, the exit
 * code and whether a retry is safe (docs/contract.md, section 6); the message says what was wrong,
 * what was expected and where.
 */
public final class SagittaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final long retryAfterMs;

  public SagittaException(ErrorCode code, String message) {
    this(code, message, -1, null);
  }

  public SagittaException(ErrorCode code, String message, Throwable cause) {
    this(code, message, -1, cause);
  }

  /** As above with the wait that is worth trying, in milliseconds; negative where none is known. */
  public SagittaException(ErrorCode code, String message, long retryAfterMs, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  public static SagittaException invalid(String message) {
    return new SagittaException(ErrorCode.INVALID_ARGUMENT, message);
  }

  public static SagittaException notFound(String message) {
    return new SagittaException(ErrorCode.NOT_FOUND, message);
  }

  public static SagittaException unavailable(String message, long retryAfterMs) {
    return new SagittaException(ErrorCode.UNAVAILABLE, message, retryAfterMs, null);
  }

  public ErrorCode code() {
    return code;
  }

  public OptionalLong retryAfterMs() {
    return retryAfterMs < 0 ? OptionalLong.empty() : OptionalLong.of(retryAfterMs);
  }
}
