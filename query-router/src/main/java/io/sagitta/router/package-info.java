// SPDX-License-Identifier: Apache-2.0

/** Scatters requests across shards and merges the answers. */
package io.sagitta.router;
