// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.UUID;

/** A collection's incarnation: a name dropped and created again has another. */
public record CollectionId(UUID value) implements Comparable<CollectionId> {
  public static CollectionId parse(String text) {
    return new CollectionId(UUID.fromString(text));
  }

  @Override
  public int compareTo(CollectionId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
