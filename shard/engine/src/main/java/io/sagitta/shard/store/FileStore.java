// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * One directory of files, with at most one level of directories below it. Names keep the rule of
 * {@link FileNames}. A missing file is a {@link java.nio.file.NoSuchFileException}. Safe for
 * several threads as far as they use different files.
 */
public interface FileStore {
  /** Starts a new file; one of that name must not exist. */
  FileOutput create(String name) throws IOException;

  /** Goes on at the end of a file. */
  FileOutput append(String name) throws IOException;

  /** Fills {@code into} from {@code offset}; fewer bytes only where the file ends. */
  void read(String name, long offset, ByteBuffer into) throws IOException;

  /**
   * The whole file, read-only and native, until the arena closes; the file must not change then.
   */
  MemorySegment map(String name, Arena arena) throws IOException;

  /** Bytes in a file. */
  long length(String name) throws IOException;

  /** Whether there is such a file. */
  boolean exists(String name) throws IOException;

  /** Gives a file another name, replacing a file of that name in one step. */
  void rename(String from, String to) throws IOException;

  /** Removes a file; open readers and mappings keep its bytes. */
  void delete(String name) throws IOException;

  /**
   * Names of the files in a directory, sorted, what is not a file or breaks the rule left out.
   *
   * @param directory a name, or empty for the store's own
   */
  List<String> list(String directory) throws IOException;

  /** Makes a directory unless it is there. */
  void createDirectory(String directory) throws IOException;

  /**
   * Makes what was created, renamed and deleted in a directory durable; empty for the store's own.
   */
  void syncDirectory(String directory) throws IOException;

  /** Where the store is, for messages. */
  @Override
  String toString();
}
