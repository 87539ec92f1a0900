// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import java.io.IOException;

/** A sound file is of a format whose support has ended; an earlier release can still rewrite it. */
public final class FormatTooOldException extends IOException {
  private static final long serialVersionUID = 1L;

  FormatTooOldException(String file, int version, int oldest) {
    super(
        "file "
            + file
            + " has format version "
            + version
            + ", this release reads from "
            + oldest
            + " on: upgrade in smaller steps");
  }
}
