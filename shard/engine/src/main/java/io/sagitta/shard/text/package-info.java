// SPDX-License-Identifier: Apache-2.0

/** BM25 and sparse legs. */
package io.sagitta.shard.text;
