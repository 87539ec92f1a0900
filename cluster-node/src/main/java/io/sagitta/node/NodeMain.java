// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.model.Reason;
import io.sagitta.raft.DamageException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;

/**
 * The command line of a node: {@code node} runs one of a cluster, {@code start} runs one or several
 * on this machine.
 *
 * <p>Exit codes, as in the contract (docs/contract.md, section 6): 0 stopped as asked; 2 the
 * command line or the configuration is wrong, or the cluster refuses the node; 7 the machine does
 * not let it now; 10 a file is damaged, or a bug. Beside them 1: stopped uncleanly, and 70: a Raft
 * server ended by itself.
 */
@Command(
    name = "sagitta",
    mixinStandardHelpOptions = true,
    versionProvider = NodeMain.VersionLine.class,
    description = "Runs Sagitta nodes.",
    subcommands = {NodeMain.NodeCommand.class, NodeMain.StartCommand.class})
public final class NodeMain {
  static final int FAILED = 1;
  static final int WRONG = 2;
  static final int NOT_NOW = 7;
  static final int BROKEN = 10;
  static final int RAFT_ENDED = 70;

  private NodeMain() {}

  public static void main(String[] args) {
    System.exit(
        new CommandLine(new NodeMain())
            .setExecutionExceptionHandler((e, line, parsed) -> explain(e))
            .setParameterExceptionHandler(
                (e, arguments) -> {
                  System.err.println("sagitta: " + e.getMessage() + " (--help shows the options)");
                  return WRONG;
                })
            .execute(args));
  }

  /** One line for what an operator can change; a trace only for what he cannot. */
  private static int explain(Exception e) {
    int code = exitCode(e);
    System.err.println(
        "sagitta: " + (e instanceof ConfigException ? "" : "could not start: ") + Reason.of(e));
    if (code == BROKEN && !(e instanceof DamageException)
        || System.getenv("SAGITTA_DEBUG") != null) {
      e.printStackTrace();
    }
    return code;
  }

  /** What the process ends with where a node could not start. */
  static int exitCode(Exception e) {
    return switch (e) {
      case ConfigException _, FileSystemException _ -> WRONG;
      case DamageException _ -> BROKEN;
      case IOException _ -> NOT_NOW;
      default -> BROKEN;
    };
  }

  /** What {@code --version} prints. */
  static final class VersionLine implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"sagitta " + Version.text()};
    }
  }

  /** {@code node --config FILE}. */
  @Command(
      name = "node",
      mixinStandardHelpOptions = true,
      versionProvider = VersionLine.class,
      description = "Runs one node of a cluster, in the foreground.")
  static final class NodeCommand implements Callable<Integer> {
    @Option(
        names = "--config",
        required = true,
        paramLabel = "FILE",
        description = "The node's configuration; node-example.yaml explains every key.")
    private Path config;

    @Option(
        names = "--led",
        hidden = true,
        description = "Begin at standard input's first line, stop at its end.")
    private boolean led;

    @Override
    public Integer call() throws Exception {
      JvmFlags.check();
      return new NodeProcess(ConfigFile.read(config), Version.text()).run(led);
    }
  }

  /** {@code start [--nodes N] [--data DIR] [--port BASE]}. */
  @Command(
      name = "start",
      mixinStandardHelpOptions = true,
      versionProvider = VersionLine.class,
      description = "Runs nodes on this machine, loopback only, each a process of its own.")
  static final class StartCommand implements Callable<Integer> {
    @Option(
        names = "--nodes",
        paramLabel = "N",
        description = "How many nodes; default: as many as the data folder has, or one.")
    private Integer nodes;

    @Option(
        names = "--data",
        paramLabel = "DIR",
        defaultValue = "sagitta-data",
        description = "Data folder, default ${DEFAULT-VALUE}; node i keeps its data in DIR/n<i>.")
    private Path data;

    @Option(
        names = "--port",
        paramLabel = "BASE",
        defaultValue = "8815",
        description =
            "First port of the first node, default ${DEFAULT-VALUE}; node i counts on by tens.")
    private int port;

    @Override
    public Integer call() throws Exception {
      return LocalNodes.plan(data, nodes, port).run();
    }
  }
}
