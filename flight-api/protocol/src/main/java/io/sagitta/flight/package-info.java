// SPDX-License-Identifier: Apache-2.0

/** Commands, tickets, Arrow schemas, error codes, answer certificate. */
package io.sagitta.flight;
