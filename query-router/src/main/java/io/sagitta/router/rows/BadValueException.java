// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

/**
 * A single value that does not fit its field. Thrown where the value is looked at, turned into a
 * refusal that names row and column by the loop that knows them. Without a stack trace: it is an
 * answer.
 */
final class BadValueException extends Exception {
  private static final long serialVersionUID = 1L;

  BadValueException(String what) {
    super(what, null, false, false);
  }
}
