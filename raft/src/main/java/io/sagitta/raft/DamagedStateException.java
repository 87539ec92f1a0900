// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/**
 * Files of a replica's state are damaged, and nothing else of it is: its vote, its log and its
 * high-water mark say what it has promised. A peer's checkpoint can take the place of its own; see
 * {@link RaftHost#repair}.
 */
public final class DamagedStateException extends DamageException {
  private static final long serialVersionUID = 1L;

  private final long indexWanted;

  /**
   * Damaged files.
   *
   * @param indexWanted log index of the oldest checkpoint that can take their place: what lies
   *     before it may be gone from the log
   */
  public DamagedStateException(String message, long indexWanted, Throwable cause) {
    super(message, cause);
    this.indexWanted = indexWanted;
  }

  /** Log index of the oldest checkpoint that can take the place of what is damaged. */
  public long indexWanted() {
    return indexWanted;
  }
}
