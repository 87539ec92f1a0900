// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

/** What a call needs of its caller before its body is read. Every method of every port has one. */
public enum CallClass {
  /** Reads points: search, get, scan. */
  READ,
  /** Writes points. */
  WRITE,
  /**
   * One of many verbs, told apart by the body: at least some role; the verb's own is checked once
   * it is known.
   */
  ANY_ROLE,
  /** From another node of the cluster. */
  NODE,
  /** Part of Flight that is not offered; answered UNIMPLEMENTED whoever asks. */
  NOT_OFFERED
}
