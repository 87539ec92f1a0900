// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/** What a batch of rows does to the points it names. */
public enum WriteMode {
  /** Creates or replaces. */
  UPSERT,
  /** Creates; rows whose id exists are rejected with ALREADY_EXISTS. */
  INSERT,
  /**
   * Changes the columns sent of points that exist; rows without one are rejected with NOT_FOUND.
   */
  UPDATE,
  /** Removes; an id that does not exist is no error. */
  DELETE
}
