// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * A payload field; every payload value may be null.
 *
 * @param fieldId stable number of the field
 * @param name the field's name
 * @param type type of its values
 */
public record PayloadField(int fieldId, String name, PayloadType type) implements Field {
  public PayloadField {
    Names.checkField(name);
  }

  @Override
  public boolean nullable() {
    return true;
  }
}
