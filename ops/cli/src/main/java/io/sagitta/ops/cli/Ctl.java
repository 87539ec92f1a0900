// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** The root command: options that every command has, and how a run of one ends. */
@Command(
    name = "sagitta ctl",
    description = "Administers a running cluster.",
    mixinStandardHelpOptions = true,
    versionProvider = Ctl.Version.class,
    scope = ScopeType.INHERIT,
    usageHelpAutoWidth = true,
    subcommands = {
      StatusCommand.class,
      CollectionsCommand.class,
      DescribeCommand.class,
      CountCommand.class,
      GetCommand.class,
      SearchCommand.class,
      ScanCommand.class,
      CreateCommand.class,
      DropCommand.class,
      DeleteCommand.class,
      VerifyCommand.class,
      RecallCommand.class,
      CommandLine.HelpCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:done",
      " 2:the request is wrong",
      " 3:not found",
      " 4:refused: exists already, a condition failed",
      " 5:beyond a limit",
      " 6:not allowed",
      " 7:unavailable or unreachable, nothing was applied",
      " 8:outcome unknown or out of time",
      " 9:not offered",
      "10:damaged data or a bug"
    })
final class Ctl implements Runnable {
  static final String ENDPOINT_VARIABLE = "SAGITTA_ENDPOINT";

  @Option(
      names = "--endpoint",
      paramLabel = "HOST:PORT",
      scope = ScopeType.INHERIT,
      converter = Endpoint.Converter.class,
      defaultValue = "${env:SAGITTA_ENDPOINT:-127.0.0.1:8815}",
      description =
          "Flight port of any node. Default: the variable "
              + ENDPOINT_VARIABLE
              + ", else 127.0.0.1:8815.")
  private Endpoint endpoint;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      scope = ScopeType.INHERIT,
      converter = WaitTime.class,
      defaultValue = "30s",
      description = "How long the answer may take: 500ms, 10s, 2m. Default: ${DEFAULT-VALUE}.")
  private Duration timeout;

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      description = "Print one JSON object, also when the command fails.")
  private boolean json;

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Show the trace of a failure.")
  private boolean debug;

  private final Terminal terminal;
  private final Connection.Opener opener;

  private Ctl(Terminal terminal, Connection.Opener opener) {
    this.terminal = terminal;
    this.opener = opener;
  }

  /** Runs one command line; the answer is its exit code. */
  static int run(String[] args, Terminal terminal, Connection.Opener opener) {
    Ctl ctl = new Ctl(terminal, opener);
    CommandLine line = new CommandLine(ctl, new Commands(ctl));
    line.setOut(writer(terminal.out()));
    line.setErr(writer(terminal.err()));
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setPosixClusteredShortOptionsAllowed(false);
    line.setUnmatchedOptionsArePositionalParams(false);
    // What could not be parsed may have said --json before or after the mistake.
    boolean wantsJson = List.of(args).contains("--json");
    line.setParameterExceptionHandler(
        (failure, ignored) ->
            new Failures(terminal, wantsJson || ctl.json, ctl.debug)
                .usage(failure.getCommandLine().getCommandName(), failure));
    line.setExecutionExceptionHandler(
        (failure, failed, parsed) ->
            new Failures(terminal, wantsJson || ctl.json, ctl.debug)
                .failed(failed.getCommandName(), ctl.endpoint, failure));
    return line.execute(args);
  }

  private static PrintWriter writer(PrintStream out) {
    return new PrintWriter(out, true, StandardCharsets.UTF_8);
  }

  @Override
  public void run() {
    throw new ParameterException(
        new CommandLine(this), "a command is missing: " + String.join(", ", COMMANDS));
  }

  private static final List<String> COMMANDS =
      Arrays.stream(Ctl.class.getAnnotation(Command.class).subcommands())
          .map(type -> type.getAnnotation(Command.class).name())
          .toList();

  Connection connect() {
    return opener.open(endpoint, timeout);
  }

  Duration timeout() {
    return timeout;
  }

  Printer printer() {
    return new Printer(terminal, json);
  }

  /** Gives the commands their root. */
  private record Commands(Ctl ctl) implements CommandLine.IFactory {
    @Override
    public <K> K create(Class<K> type) throws Exception {
      K made = CommandLine.defaultFactory().create(type);
      if (made instanceof ClusterCommand command) {
        command.attach(ctl);
      }
      return made;
    }
  }

  /** The version of the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version =
          Optional.ofNullable(Ctl.class.getPackage().getImplementationVersion())
              .orElse("(not from a distribution)");
      return new String[] {
        "sagitta " + version, "Java " + Runtime.version() + ", " + System.getProperty("os.name")
      };
    }
  }
}
