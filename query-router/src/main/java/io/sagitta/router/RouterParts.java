// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.model.NodeId;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a router is made of.
 *
 * @param self this node, whose own replicas are nearest
 * @param maps the shard map
 * @param metadata changes of collections
 * @param leaders hints about leaders
 * @param doors every node's shards
 * @param allocator memory of merged answers and of batches under conversion; outlives the router
 * @param workers runs each task on a virtual thread of its own: tasks wait
 * @param clock wall clock, for the opening times of writers
 * @param nanoTime {@link System#nanoTime}, which deadlines are values of
 * @param uuids random identities of writers
 */
public record RouterParts(
    NodeId self,
    ShardMaps maps,
    Metadata metadata,
    Leaders leaders,
    Doors doors,
    BufferAllocator allocator,
    Executor workers,
    InstantSource clock,
    LongSupplier nanoTime,
    Supplier<UUID> uuids) {}
