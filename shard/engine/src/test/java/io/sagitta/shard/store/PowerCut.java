// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

/** The machine went dark in the middle of an operation. Not an I/O error: nobody handles it. */
public final class PowerCut extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PowerCut(int operation) {
    super("power cut at operation " + operation);
  }
}
