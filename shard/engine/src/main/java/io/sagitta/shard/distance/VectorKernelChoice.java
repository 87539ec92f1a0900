// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import jdk.incubator.vector.FloatVector;

/** The part of {@link KernelChoice} that needs the Vector API. */
final class VectorKernelChoice {
  private VectorKernelChoice() {}

  /** The kernels named, or with an empty name those of the machine's preferred width. */
  static RowKernels choose(String forced) {
    return switch (forced) {
      case "" -> preferred(FloatVector.SPECIES_PREFERRED.vectorBitSize());
      case "vector-128" -> new Kernels128();
      case "vector-256" -> new Kernels256();
      case "vector-512" -> new Kernels512();
      default ->
          throw new IllegalArgumentException(
              "-D"
                  + KernelChoice.PROPERTY
                  + "="
                  + forced
                  + ": expected scalar, vector-128, vector-256 or vector-512");
    };
  }

  /** Never wider than the hardware: a species without registers is emulated on the heap. */
  private static RowKernels preferred(int bits) {
    if (bits >= 512) {
      return new Kernels512();
    }
    if (bits >= 256) {
      return new Kernels256();
    }
    return bits >= 128 ? new Kernels128() : new ScalarKernels();
  }
}
