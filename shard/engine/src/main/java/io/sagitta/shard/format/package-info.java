// SPDX-License-Identifier: Apache-2.0

/** The files of a shard, version 1: readers, writers, checksums. */
package io.sagitta.shard.format;
