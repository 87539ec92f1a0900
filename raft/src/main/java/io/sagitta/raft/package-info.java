// SPDX-License-Identifier: Apache-2.0

/** Replicated state: apply, checkpoint, restore. Knows no vectors. */
package io.sagitta.raft;
