// SPDX-License-Identifier: Apache-2.0

/** Java client with deadlines and retries. */
package io.sagitta.flight.client;
