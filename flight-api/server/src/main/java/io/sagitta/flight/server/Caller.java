// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.Context;

/**
 * Who calls, as far as it has been proved.
 *
 * @param principal for logs, audit and the log header of writes
 */
public record Caller(String principal) {
  /** Whoever reaches a port that is open to all who do. */
  public static final Caller ANONYMOUS = new Caller("anonymous");

  static final Context.Key<Caller> KEY = Context.key("sagitta-caller");

  /** The caller of the call at hand. */
  static Caller current() {
    Caller caller = KEY.get();
    if (caller == null) {
      // Only a service that was added around the gate can come here.
      throw new IllegalStateException("a call that passed no gate");
    }
    return caller;
  }
}
