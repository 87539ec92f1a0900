// SPDX-License-Identifier: Apache-2.0

/**
 * The public protocol, independent of who serves it: commands, answers, errors.
 *
 * <p>{@link io.sagitta.flight.Command} is what can be asked; {@link io.sagitta.flight.Commands} is
 * its JSON, one codec for both ways. {@link io.sagitta.flight.RequestHandler} is the door behind
 * which it is answered. {@link io.sagitta.flight.Certificate} and {@link io.sagitta.flight.PutAck}
 * are what answers say of themselves, {@link io.sagitta.flight.FlightErrors} how failures travel.
 * Start with {@code Command}.
 *
 * <p>Invariants: numbers of a request stay exact (never through a double); what was not asked for
 * by the protocol is refused by name; every bound of a request stands in {@link
 * io.sagitta.flight.RequestLimits}.
 */
package io.sagitta.flight;
