// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;

/** How a refused row or column is named in messages: {@code row 3, column 'tag': ...}. */
final class Refusal {
  private Refusal() {}

  static SagittaException row(int row, String column, String what) {
    return SagittaException.invalid("row " + row + ", column " + Names.quote(column) + ": " + what);
  }

  static SagittaException column(String column, String what) {
    return SagittaException.invalid("column " + Names.quote(column) + ": " + what);
  }
}
