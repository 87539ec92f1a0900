// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench;

import java.io.PrintStream;
import java.util.Locale;

/**
 * Shows how far a long step has come, on standard error so that results on standard output stay
 * clean: a bar that is redrawn on a terminal, a line every ten percent elsewhere.
 */
public final class Progress {
  private static final int BAR_WIDTH = 30;
  private static final long REDRAW_NANOS = 100_000_000L;

  private final PrintStream out;
  private final boolean terminal;
  private final String what;
  private final long total;
  private final long startNanos = System.nanoTime();
  private long drawnNanos;
  private int tenthsPrinted;

  public Progress(PrintStream out, String what, long total) {
    this.out = out;
    this.terminal = System.console() != null && System.console().isTerminal();
    this.what = what;
    this.total = total;
  }

  /** Reports that {@code done} of the total is done; may be called from any thread. */
  public synchronized void at(long done) {
    long now = System.nanoTime();
    if (terminal) {
      if (now - drawnNanos >= REDRAW_NANOS || done >= total) {
        drawnNanos = now;
        out.print("\r" + line(done, now) + (done >= total ? System.lineSeparator() : ""));
        out.flush();
      }
    } else if (done * 10 / Math.max(1, total) > tenthsPrinted) {
      tenthsPrinted = (int) (done * 10 / Math.max(1, total));
      out.println(line(done, now));
    }
  }

  private String line(long done, long now) {
    double fraction = total == 0 ? 1 : (double) done / total;
    int filled = (int) (fraction * BAR_WIDTH);
    double seconds = (now - startNanos) / 1e9;
    double rate = seconds > 0 ? done / seconds : 0;
    return String.format(
        Locale.ROOT,
        "%-24s [%s%s] %3d %% %,d/%,d %,.0f/s %s",
        what,
        "=".repeat(filled),
        " ".repeat(BAR_WIDTH - filled),
        (int) (fraction * 100),
        done,
        total,
        rate,
        done >= total ? String.format(Locale.ROOT, "%.1f s", seconds) : eta(rate, done));
  }

  private String eta(double rate, long done) {
    return rate > 0 ? String.format(Locale.ROOT, "%.0f s left", (total - done) / rate) : "";
  }
}
