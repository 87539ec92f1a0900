// SPDX-License-Identifier: Apache-2.0

/** The seam to the file system. */
package io.sagitta.shard.store;
