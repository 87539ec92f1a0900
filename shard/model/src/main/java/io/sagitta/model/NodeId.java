// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.UUID;

/** One data folder's identity: a wiped disk comes back as another node. */
public record NodeId(UUID value) implements Comparable<NodeId> {
  public static NodeId parse(String text) {
    return new NodeId(UUID.fromString(text));
  }

  @Override
  public int compareTo(NodeId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
