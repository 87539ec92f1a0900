// SPDX-License-Identifier: Apache-2.0

/**
 * Several shards' answers to one.
 *
 * <p>{@link io.sagitta.router.merge.TopKMerger} merges hits by score then id, {@link
 * io.sagitta.router.merge.GroupMerger} groups of hits, {@link
 * io.sagitta.router.merge.RequestedOrder} puts points into the order asked, {@link
 * io.sagitta.router.merge.IdOrderMerger} merges pages of a scan, {@link
 * io.sagitta.router.merge.Certificates} sums up what shards said of their answers. Rows are
 * compared where they lie; only those that are answered are copied, once.
 */
package io.sagitta.router.merge;
