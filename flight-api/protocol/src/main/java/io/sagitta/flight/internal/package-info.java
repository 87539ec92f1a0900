// SPDX-License-Identifier: Apache-2.0
/**
 * What crosses the internal port (8816) between nodes: reads and checkpoint files over Flight, all
 * else over one small protobuf service on the same gRPC server ({@code internal.proto}).
 *
 * <p>{@link io.sagitta.flight.internal.ShardDoor} is the one face of a node's shards, local or
 * remote. {@link io.sagitta.flight.internal.InternalHandler} is what a node implements to be served
 * by the internal endpoint. Start with {@code ShardDoor}.
 */
package io.sagitta.flight.internal;
