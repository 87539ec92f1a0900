// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.internal;

import io.sagitta.model.NodeId;

/**
 * What a node that asks for a shard knows of the shard's Raft group as one of its voters. A strong
 * read leans on it, so it must have been read after the caller's request had reached the asker.
 *
 * @param asker the node that asks, a voter of the shard's group
 * @param term its own term of the group
 */
public record AskerTerm(NodeId asker, long term) {}
