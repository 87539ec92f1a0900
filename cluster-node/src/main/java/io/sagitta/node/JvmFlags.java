// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The JVM options that Sagitta needs; the launcher gives them. Without one of them something fails
 * much later with a message that nobody can read, so they are asked for at once.
 */
final class JvmFlags {
  /** The module of the kernels; the JVM prints a warning of it whenever it is asked for. */
  static final String KERNELS = "--add-modules=jdk.incubator.vector";

  private JvmFlags() {}

  static void check() {
    List<String> missing = new ArrayList<>();
    if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
      missing.add(KERNELS);
    }
    if (!ByteBuffer.class.getModule().isOpen("java.nio", JvmFlags.class.getModule())) {
      missing.add("--add-opens=java.base/java.nio=ALL-UNNAMED");
    }
    if (!"Unsafe".equals(System.getProperty("arrow.allocation.manager.type"))) {
      missing.add("-Darrow.allocation.manager.type=Unsafe");
    }
    if (!missing.isEmpty()) {
      throw new ConfigException(
          "start with ./sagitta, or give the JVM also " + String.join(" ", missing));
    }
  }
}
