// SPDX-License-Identifier: Apache-2.0

/**
 * The Java client: {@link io.sagitta.flight.client.SagittaClient} for everything that is asked and
 * answered once, {@link io.sagitta.flight.client.Writer} for writing many batches so that each
 * takes effect exactly once.
 *
 * <p>Invariants: every call has a deadline; what is retried is safe to retry (reads, and writes
 * under a writer and number); retries are bounded by a budget and spread by jitter; errors are
 * {@link io.sagitta.model.SagittaException}s; nothing spins. Start with {@code SagittaClient}.
 */
package io.sagitta.flight.client;
