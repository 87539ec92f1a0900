// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.rows;

import org.apache.arrow.vector.FieldVector;

/**
 * Copies one value that is not null from a vector of the type sent into a canonical one, exactly.
 */
interface ValueCopy {
  void copy(FieldVector from, int place, FieldVector to, int at) throws BadValueException;
}
