// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

import java.util.List;

/**
 * A put as the ledger knows it: one batch of one writer.
 *
 * @param number its place in the ledger, from 1
 * @param kind what it does
 * @param writer who sends it
 * @param points ids and the edition each has once the write took effect
 */
public record Write(long number, Kind kind, int writer, List<Point> points) {

  /** What a write does. */
  public enum Kind {
    UPSERT,
    DELETE,
    /** One point, to its next edition, on the condition that it is what it was when read. */
    INCREMENT
  }

  /** A point of a write; a delete's edition is that of the point it removes. */
  public record Point(long id, long edition) {}

  public Write {
    points = List.copyOf(points);
  }

  /** The state of one of its points once it took effect. */
  Presence effect(Point point) {
    return kind == Kind.DELETE
        ? Presence.absent(point.edition(), number)
        : Presence.present(point.edition(), number);
  }
}
