// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.UUID;

/** A shard's incarnation and at the same time its Raft group. */
public record ShardId(UUID value) implements Comparable<ShardId> {
  public static ShardId parse(String text) {
    return new ShardId(UUID.fromString(text));
  }

  @Override
  public int compareTo(ShardId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
