// SPDX-License-Identifier: Apache-2.0

/** The only place that imports Ratis. */
package io.sagitta.raft.ratis;
