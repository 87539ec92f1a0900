// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * What one shard's answer says of itself: its part of the certificate.
 *
 * @param shard the shard
 * @param index log index of the view that was read
 * @param replica name of the node that answered, such as {@code n1}
 * @param exact whether every live matching point was considered
 * @param graph segments searched by graph
 * @param masked segments searched by graph under a filter's mask
 * @param twoHop segments searched by two-hop traversal
 * @param scan segments scanned exactly
 * @param visited vectors scored
 * @param recallPlanned recall the effort was planned for; 1 when exact
 * @param more whether a scan's page was cut, by its rows or by its bytes, before the last match
 * @param explain per-segment detail as JSON, empty unless asked
 */
public record ReadStamp(
    ShardId shard,
    long index,
    String replica,
    boolean exact,
    int graph,
    int masked,
    int twoHop,
    int scan,
    long visited,
    double recallPlanned,
    boolean more,
    String explain) {}
