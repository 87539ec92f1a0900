// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import java.io.IOException;

/** A sound file was written by a later release; this one must not touch it. */
public final class FormatTooNewException extends IOException {
  private static final long serialVersionUID = 1L;

  FormatTooNewException(String file, int version, int newest) {
    super(
        "file "
            + file
            + " has format version "
            + version
            + ", this release reads up to "
            + newest
            + ": start the release that wrote it");
  }
}
