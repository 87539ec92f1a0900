// SPDX-License-Identifier: Apache-2.0

/** Merging of segments: a pure policy, a plan, a merger that runs it. */
package io.sagitta.shard.merge;
