// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import org.apache.arrow.memory.BufferAllocator;

/** Turns one column as sent into its canonical form. Compiled for the types of both. */
interface ColumnReader {
  /** Field id of the canonical column. */
  int column();

  /**
   * Checks and converts a column. The caller closes it.
   *
   * @return the vector sent where it is canonical already, else a new one of the allocator
   * @throws io.sagitta.model.SagittaException INVALID_ARGUMENT naming row and column
   */
  ReadColumn read(SentColumn sent, BufferAllocator allocator);
}
