// SPDX-License-Identifier: Apache-2.0

/**
 * Reads the messages of a DoPut: FlightData frames, the Arrow IPC within, dictionaries that grow or
 * are replaced.
 *
 * <p>Flight's own reader is not used for uploads. It takes a delta dictionary for a replacement, so
 * that values of one chunk show in another; it waits for ever on a stream that ends before its
 * schema; it reads outside of the message when the lengths within lie; and what it cannot allocate
 * ends as an error without a code. This reader gives every such input a refusal that says what was
 * wrong.
 *
 * <p>Invariants: whatever the bytes, nothing outside of the message is read, nothing leaks, and
 * only a {@link io.sagitta.model.SagittaException} is thrown. Start with {@link
 * io.sagitta.flight.server.ipc.IncomingBatches}.
 */
package io.sagitta.flight.server.ipc;
