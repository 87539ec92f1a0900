// SPDX-License-Identifier: Apache-2.0

/** Simulated cluster. */
package io.sagitta.it.simulation;
