// SPDX-License-Identifier: Apache-2.0

/**
 * The Flight endpoints of a node. {@link io.sagitta.flight.server.PublicEndpoint} serves users,
 * {@link io.sagitta.flight.server.InternalEndpoint} serves other nodes; both only translate between
 * the wire and the handler they are given. Start with {@code PublicEndpoint}.
 *
 * <p>Invariants: the transport's thread never blocks; every message out is bounded, and whoever
 * sends more than one waits for its reader; every upload is bounded in memory; every method passes
 * {@link io.sagitta.flight.server.CallGate}; a failure leaves with its code and never with its
 * stack.
 */
package io.sagitta.flight.server;
