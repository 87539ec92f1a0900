// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.io.IOException;

/**
 * A file does not hold what was written to it. Says which file, where, what was expected and found.
 */
public final class CorruptFileException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long offset;

  /** As below for a number that is not the expected one, both shown in hexadecimal. */
  CorruptFileException(String file, long offset, String what, long expected, long found) {
    this(file, offset, "%s is 0x%x, expected 0x%x".formatted(what, found, expected));
  }

  /**
   * A damaged file.
   *
   * @param file its name within the shard's directory
   * @param offset where in the file
   * @param what what was found and what was expected
   */
  CorruptFileException(String file, long offset, String what) {
    super("file " + file + " is corrupt at offset " + offset + ": " + what);
    this.file = file;
    this.offset = offset;
  }

  /** Name of the file within the shard's directory. */
  public String file() {
    return file;
  }

  /** Where in the file. */
  public long offset() {
    return offset;
  }

  /** The same for a caller: {@link ErrorCode#CORRUPT}. */
  public SagittaException toSagittaException() {
    return new SagittaException(ErrorCode.CORRUPT, getMessage(), this);
  }
}
