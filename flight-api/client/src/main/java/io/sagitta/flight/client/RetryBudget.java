// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

/**
 * Keeps retries a small part of all calls: when a cluster cannot keep up, a client that tries
 * everything three times makes it worse. A retry costs one token, a call that works earns a tenth
 * of one.
 */
final class RetryBudget {
  private static final double TOKENS_MAX = 100;
  private static final double EARNED = 0.1;

  private double tokens = TOKENS_MAX;

  synchronized boolean take() {
    if (tokens < 1) {
      return false;
    }
    tokens--;
    return true;
  }

  synchronized void earn() {
    tokens = Math.min(TOKENS_MAX, tokens + EARNED);
  }
}
