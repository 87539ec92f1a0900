// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import org.apache.arrow.vector.FieldVector;

/**
 * A canonical column as read from a batch.
 *
 * @param vector its values
 * @param owned whether it was made for this, or is the batch's own vector
 */
record ReadColumn(FieldVector vector, boolean owned) implements AutoCloseable {
  static ReadColumn borrowed(FieldVector vector) {
    return new ReadColumn(vector, false);
  }

  static ReadColumn made(FieldVector vector) {
    return new ReadColumn(vector, true);
  }

  /** Closes the vector if it was made for this. */
  @Override
  public void close() {
    if (owned) {
      vector.close();
    }
  }
}
