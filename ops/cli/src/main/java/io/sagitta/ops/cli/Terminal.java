// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import java.io.Console;
import java.io.PrintStream;

/**
 * Where output goes.
 *
 * @param out the answer
 * @param err one line when the command fails
 * @param width columns of the terminal behind {@code out}; 0 where there is none
 */
record Terminal(PrintStream out, PrintStream err, int width) {
  private static final int USUAL_WIDTH = 100;
  private static final int NARROWEST = 40;

  /** The width of the terminal on standard output, as the shell tells it; 0 where there is none. */
  static int widthOfStdout() {
    Console console = System.console();
    if (console == null || !console.isTerminal()) {
      return 0;
    }
    try {
      return Math.max(NARROWEST, Integer.parseInt(System.getenv().getOrDefault("COLUMNS", "")));
    } catch (NumberFormatException e) {
      return USUAL_WIDTH;
    }
  }
}
