// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/** Type of a vector's components as stored; vectors read back bit for bit in this type. */
public enum VectorType {
  FLOAT32(32),
  FLOAT16(16),
  BFLOAT16(16),
  INT8(8),
  UINT8(8),
  /** One bit a component, packed most significant bit first as numpy.packbits does. */
  BINARY(1);

  private final int bitsPerComponent;

  VectorType(int bitsPerComponent) {
    this.bitsPerComponent = bitsPerComponent;
  }

  public int bitsPerComponent() {
    return bitsPerComponent;
  }

  /** Bytes of one vector of {@code dimension} components, without padding. */
  public int bytes(int dimension) {
    return (int) (((long) dimension * bitsPerComponent + 7) / 8);
  }
}
