// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench;

import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import io.sagitta.ops.bench.process.ClusterException;
import io.sagitta.ops.bench.process.ClusterProcesses;
import io.sagitta.ops.bench.report.Report;
import java.io.PrintStream;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A command that runs a cluster of its own and reports figures. Standard output holds the report
 * and nothing else; progress, the seed and the command that replays it go to standard error. The
 * exit code is 0 where all is well, 1 where something was lost, wrong or stale, and the contract's
 * where the run itself failed.
 */
public abstract class LaneCommand implements Callable<Integer> {
  private static final int BROKEN = 1;

  @Option(names = "--seed", paramLabel = "S", description = "Draws as the run of this seed did.")
  private Long seed;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Option(names = "--debug", description = "Show the trace of a failure.")
  private boolean debug;

  @Spec private CommandSpec spec;

  /** Runs the lane: enters its figures and the verdict. */
  protected abstract void run(Report report) throws Exception;

  /** Options of this run besides the seed, as they were or would be typed. */
  protected abstract List<String> options();

  /** What people read; the figures as lines and tables unless a lane knows better. */
  protected void printText(Report report, PrintStream out) {
    report.printText(out);
  }

  protected final boolean json() {
    return json;
  }

  protected final PrintStream log() {
    return System.err;
  }

  @Override
  public final Integer call() {
    long drawn = seed == null ? new SecureRandom().nextInt(1, Integer.MAX_VALUE) : seed;
    seed = drawn;
    Report report = Report.of(drawn).put("command", replay());
    log().println("seed " + drawn + "; the same again: " + replay());
    int code;
    try {
      run(report);
      code = report.isOk() ? 0 : BROKEN;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return BROKEN;
    } catch (Exception e) {
      code = failed(report, e);
    }
    if (json) {
      report.printJson(System.out);
    } else if (code == 0 || code == BROKEN) {
      printText(report, System.out);
    }
    return code;
  }

  protected final long seed() {
    return seed;
  }

  private String replay() {
    return "./"
        + spec.qualifiedName()
        + " "
        + String.join(" ", options())
        + (options().isEmpty() ? "" : " ")
        + "--seed "
        + seed;
  }

  private int failed(Report report, Exception failure) {
    String message =
        failure instanceof SagittaException || failure instanceof ClusterException
            ? failure.getMessage()
            : failure.toString();
    log().println(spec.qualifiedName() + ": " + message);
    if (debug) {
      failure.printStackTrace(log());
    }
    report.ok(false).put("error", message);
    return switch (failure) {
      case SagittaException error -> error.code().exitCode();
      case ClusterException error -> ErrorCode.UNAVAILABLE.exitCode();
      default -> ErrorCode.INTERNAL.exitCode();
    };
  }

  /** Keeps what nodes wrote and says where it lies. */
  protected final void keep(ClusterProcesses cluster) {
    log().println("logs and data of the nodes are kept in " + cluster.keepFiles());
  }
}
