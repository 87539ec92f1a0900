// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

/** What the operator asked for cannot be; the message is one line that says what to change. */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ConfigException(String message) {
    super(message);
  }

  public ConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
