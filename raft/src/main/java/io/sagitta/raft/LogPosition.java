// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/**
 * A position in a group's log.
 *
 * @param term term of the entry
 * @param index its index; {@link #NONE} is before the first
 */
public record LogPosition(long term, long index) implements Comparable<LogPosition> {
  public static final LogPosition NONE = new LogPosition(0, -1);

  @Override
  public int compareTo(LogPosition other) {
    int byIndex = Long.compare(index, other.index);
    return byIndex != 0 ? byIndex : Long.compare(term, other.term);
  }
}
