// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * Where a peer's checkpoint arrives: an open shard, or one whose files are damaged. What has
 * arrived waits beside the present checkpoint until it is installed, and survives a restart. Any
 * thread.
 */
public interface CheckpointReceiver {

  /** Files that a manifest names and that are missing or bad here. */
  List<CheckpointFile> missingFiles(byte[] manifest) throws IOException;

  /** Bytes of a file that an earlier, interrupted {@link #importFile} has kept: where to go on. */
  long importedBytes(CheckpointFile file) throws IOException;

  /**
   * Receives a fetched file, or its rest from {@code offset} = {@link #importedBytes}: verified and
   * fsynced on return.
   */
  void importFile(CheckpointFile file, InputStream bytes, long offset) throws IOException;
}
