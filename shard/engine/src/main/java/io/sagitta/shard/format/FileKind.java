// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

/** What a file is; the code stands in its header. */
enum FileKind {
  SEGMENT(1),
  IDS(2),
  PAYLOAD(3),
  VERSIONS(4),
  VECTORS(5),
  LIVES(6),
  SESSIONS(7),
  MANIFEST(8),
  GRAPH(9);

  private final int code;

  FileKind(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }
}
