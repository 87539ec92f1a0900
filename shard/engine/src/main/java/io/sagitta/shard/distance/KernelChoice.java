// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.distance;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the kernels once, at start. The system property {@code sagitta.kernels} ({@code scalar},
 * {@code vector-128}, {@code vector-256}, {@code vector-512}) overrides the choice, for tests and
 * for machines whose widest registers are not the fastest; scores do not depend on it.
 */
final class KernelChoice {
  static final String PROPERTY = "sagitta.kernels";

  private static final Logger log = LoggerFactory.getLogger(KernelChoice.class);

  private KernelChoice() {}

  static RowKernels choose() {
    String forced = System.getProperty(PROPERTY, "");
    if (forced.equals("scalar")) {
      log.info("distance kernels: scalar, as {} says", PROPERTY);
      return new ScalarKernels();
    }
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      log.warn(
          "distance kernels: scalar, several times slower than they could be; start the JVM with"
              + " --add-modules=jdk.incubator.vector");
      return new ScalarKernels();
    }
    // In a class of its own: without the module it must not even be loaded.
    RowKernels chosen = VectorKernelChoice.choose(forced);
    log.info("distance kernels: {}", chosen.name());
    return chosen;
  }
}
