// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import java.util.Optional;

/** Kinds of log entries and their numbers, which are never reused. */
enum EntryType {
  INIT(1),
  PUT(2),
  DELETE(3),
  DELETE_WHERE(4),
  SET_WHERE(5),
  SCHEMA_CHANGE(6),
  SLOT_CHANGE(7),
  FREEZE(8);

  private final int number;

  EntryType(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static Optional<EntryType> of(int number) {
    for (EntryType type : values()) {
      if (type.number == number) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }
}
