// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.raft.ratis.RaftHostConfig.Plant;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Faults that a test plants in a node to see that it finds them, by the system property {@value
 * #PROPERTY}. No configuration file can set it, and a node that has one says so at every start.
 */
final class Plants {
  static final String PROPERTY = "sagitta.plant";

  private static final Logger log = LoggerFactory.getLogger(Plants.class);

  private Plants() {}

  /**
   * The longest election timeout, in shortest ones. Who skips the read barrier also believes for
   * longer that it leads (which is allowed: no clock takes part in the barrier), while others are
   * as likely to stand as before: else a leader that is cut off steps down just when another
   * begins, and the missing barrier is hardly ever seen.
   */
  static int electionSpread() {
    return System.getProperty(PROPERTY, "").equals("no-barrier") ? 12 : 2;
  }

  /** The faults of this process; none in production. */
  static Set<Plant> planted() {
    String name = System.getProperty(PROPERTY, "");
    if (name.isEmpty()) {
      return Set.of();
    }
    log.error("THIS NODE IS BROKEN ON PURPOSE: -D{}={}. For tests only", PROPERTY, name);
    return switch (name) {
      case "no-barrier" -> Set.of(Plant.NO_READ_BARRIER);
      case "no-fsync" -> Set.of(Plant.NO_FSYNC);
      default ->
          throw new ConfigException(
              "-D" + PROPERTY + " is '" + name + "', expected no-barrier or no-fsync");
    };
  }
}
