// SPDX-License-Identifier: Apache-2.0

/** Runs a plan: deadlines, hedging, cancellation. */
package io.sagitta.router.fanout;
