// SPDX-License-Identifier: Apache-2.0

/** Filter parser, evaluation to bitmaps, and the planner. */
package io.sagitta.shard.filter;
