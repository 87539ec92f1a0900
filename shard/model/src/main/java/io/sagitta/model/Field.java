// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/** A field of a collection other than its id. */
public sealed interface Field permits VectorField, PayloadField {
  /**
   * Stable within the collection and never reused, so that a dropped name may return as a new
   * field.
   */
  int fieldId();

  String name();

  boolean nullable();
}
