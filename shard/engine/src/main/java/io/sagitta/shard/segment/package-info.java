// SPDX-License-Identifier: Apache-2.0

/** Segments and their life: growing, frozen, flushed, indexed, merged. */
package io.sagitta.shard.segment;
