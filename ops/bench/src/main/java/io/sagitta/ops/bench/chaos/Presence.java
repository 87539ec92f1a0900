// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

/**
 * A state of one id.
 *
 * @param there whether the point exists
 * @param edition its edition; of a deleted point the last it had, 0 where it was never written
 * @param write number of the write that made it so; 0 where none did
 */
record Presence(boolean there, long edition, long write) {
  /** Never written. */
  static final Presence NEVER = new Presence(false, 0, 0);

  static Presence present(long edition, long write) {
    return new Presence(true, edition, write);
  }

  static Presence absent(long edition, long write) {
    return new Presence(false, edition, write);
  }

  /** Whether a point that was read, or its absence ({@code null}), is this state. */
  boolean matches(StoredPoint found) {
    return there ? found != null && found.edition() == edition : found == null;
  }

  @Override
  public String toString() {
    return there
        ? "edition " + edition + " (write " + write + ")"
        : write == 0 ? "nothing" : "deleted after edition " + edition + " (write " + write + ")";
  }
}
