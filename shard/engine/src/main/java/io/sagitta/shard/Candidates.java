// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.RowBatch;
import java.util.Optional;

/**
 * The rows a filter matched in a view of the leader, as they travel in DeleteWhere and SetWhere
 * entries. Apply then rechecks only rows newer than the view.
 *
 * @param viewIndex log index of the view
 * @param ids their ids (a batch of the id column alone); empty where they would not fit into an
 *     entry, and apply evaluates the filter on all rows
 */
public record Candidates(long viewIndex, Optional<RowBatch> ids) {}
