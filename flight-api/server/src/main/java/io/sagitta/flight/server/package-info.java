// SPDX-License-Identifier: Apache-2.0

/** Flight endpoint of a node. */
package io.sagitta.flight.server;
