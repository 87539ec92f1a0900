// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench;

import java.nio.file.Path;

/** Where data that is slow to make or fetch is kept from run to run. */
public final class CacheFolder {
  private CacheFolder() {}

  /** {@code sagitta} below {@code XDG_CACHE_HOME}, or below {@code ~/.cache}. */
  public static Path path() {
    String base = System.getenv("XDG_CACHE_HOME");
    Path root =
        base == null || base.isBlank()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(base);
    return root.resolve("sagitta");
  }
}
