// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

/**
 * How a read was answered: the engine's part of the certificate.
 *
 * @param exact whether every live matching row was considered
 * @param graph segments searched by graph
 * @param masked segments searched by graph under a filter's mask
 * @param twoHop segments searched by two-hop traversal
 * @param scan segments scanned exactly
 * @param visited vectors scored, or rows looked at
 * @param recallPlanned recall the effort was planned for; 1 when exact
 * @param more a scan stopped at its limit or at its page's bytes, and rows may follow the last one
 * @param explain per-segment detail as JSON, empty unless asked
 */
public record ReadStats(
    boolean exact,
    int graph,
    int masked,
    int twoHop,
    int scan,
    long visited,
    double recallPlanned,
    boolean more,
    String explain) {}
