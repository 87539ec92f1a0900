// SPDX-License-Identifier: Apache-2.0

/** Where raft and shard meet. */
package io.sagitta.node.replica;
