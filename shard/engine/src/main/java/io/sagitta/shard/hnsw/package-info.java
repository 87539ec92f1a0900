// SPDX-License-Identifier: Apache-2.0

/** The graph: build and search, without any I/O. */
package io.sagitta.shard.hnsw;
