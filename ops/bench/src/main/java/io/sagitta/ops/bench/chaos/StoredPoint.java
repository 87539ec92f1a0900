// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.chaos;

/**
 * A point as the cluster returned it.
 *
 * @param edition as its payload says
 * @param version the engine's {@code _version}
 * @param flaw what is wrong with its content; empty where it is whole
 */
public record StoredPoint(long id, long edition, long version, String flaw) {}
