// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

import java.util.UUID;

/** A Raft group: the metadata group or one shard. */
public record GroupId(UUID value) {
  @Override
  public String toString() {
    return value.toString();
  }
}
