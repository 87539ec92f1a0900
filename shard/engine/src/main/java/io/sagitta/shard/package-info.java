// SPDX-License-Identifier: Apache-2.0

/** Storage engine of one shard. Start at {@code Shard}: apply, view, checkpoint. */
package io.sagitta.shard;
