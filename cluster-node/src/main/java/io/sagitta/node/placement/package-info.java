// SPDX-License-Identifier: Apache-2.0

/** Metadata group, placement, shard moves. */
package io.sagitta.node.placement;
