// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench;

import io.sagitta.ops.bench.chaos.KillCommand;
import io.sagitta.ops.bench.chaos.PowerCutCommand;
import io.sagitta.ops.bench.chaos.StaleReadCommand;
import io.sagitta.ops.bench.demo.DemoCommand;
import io.sagitta.ops.bench.engine.EngineCommand;
import io.sagitta.ops.bench.measure.IngestCommand;
import io.sagitta.ops.bench.measure.MemoryCommand;
import io.sagitta.ops.bench.measure.RecallCommand;
import io.sagitta.ops.bench.measure.RestartCommand;
import io.sagitta.ops.bench.measure.ServeCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** {@code sagitta demo}, {@code sagitta bench ...} and {@code sagitta chaos ...}. */
@Command(
    name = "sagitta",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    usageHelpAutoWidth = true,
    subcommands = {DemoCommand.class, BenchMain.Bench.class, BenchMain.Chaos.class})
public final class BenchMain implements Runnable {
  private BenchMain() {}

  private static final String LOG_CONFIGURATION = "logback.configurationFile";

  /** Runs one command and exits with its code. */
  public static void main(String[] args) {
    // Before anything asks for a logger: other parts on the class path have configurations too.
    if (System.getProperty(LOG_CONFIGURATION) == null) {
      System.setProperty(LOG_CONFIGURATION, "bench-logback.xml");
    }
    System.exit(run(args));
  }

  /** Runs one command; the answer is its exit code. */
  public static int run(String... args) {
    return commandLine().execute(args);
  }

  static CommandLine commandLine() {
    return new CommandLine(new BenchMain())
        .setParameterExceptionHandler(
            (failure, ignored) -> {
              CommandLine command = failure.getCommandLine();
              command
                  .getErr()
                  .println(
                      command.getCommandSpec().qualifiedName()
                          + ": "
                          + failure.getMessage()
                          + ", see: "
                          + command.getCommandSpec().qualifiedName()
                          + " --help");
              return command.getCommandSpec().exitCodeOnInvalidInput();
            });
  }

  @Override
  public void run() {
    throw missing(this, "demo, bench, chaos");
  }

  private static ParameterException missing(Object command, String which) {
    return new ParameterException(new CommandLine(command), "a command is missing: " + which);
  }

  /** Measures. */
  @Command(
      name = "bench",
      description = "Measures the engine, or a cluster of its own, on this machine.",
      subcommands = {
        EngineCommand.class,
        IngestCommand.class,
        MemoryCommand.class,
        RestartCommand.class,
        RecallCommand.class,
        ServeCommand.class
      })
  static final class Bench implements Runnable {
    @Override
    public void run() {
      throw missing(this, "engine, ingest, memory, restart, recall, serve");
    }
  }

  /** Breaks. */
  @Command(
      name = "chaos",
      description = "Breaks a cluster of its own on purpose and says what was lost.",
      subcommands = {KillCommand.class, PowerCutCommand.class, StaleReadCommand.class})
  static final class Chaos implements Runnable {
    @Override
    public void run() {
      throw missing(this, "kill, power-cut, stale-read");
    }
  }
}
