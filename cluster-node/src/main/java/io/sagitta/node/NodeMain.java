// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command line of a node: {@code node} runs one of a cluster, {@code start} runs one or several
 * on this machine.
 *
 * <p>Exit codes: 0 stopped as asked; 1 could not start or stopped uncleanly; 2 the command line or
 * the configuration is wrong, or the cluster refuses the node; 70 a Raft server ended by itself.
 */
@Command(
    name = "sagitta",
    mixinStandardHelpOptions = true,
    description = "Runs Sagitta nodes.",
    subcommands = {NodeMain.NodeCommand.class, NodeMain.StartCommand.class})
public final class NodeMain {
  static final int FAILED = 1;
  static final int WRONG = 2;
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
    if (e instanceof ConfigException) {
      System.err.println("sagitta: " + e.getMessage());
      return WRONG;
    }
    System.err.println("sagitta: could not start: " + e);
    if (System.getenv("SAGITTA_DEBUG") != null) {
      e.printStackTrace();
    }
    return FAILED;
  }

  /** {@code node --config FILE}. */
  @Command(name = "node", description = "Runs one node of a cluster, in the foreground.")
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
      JvmFlags.check();
      return LocalNodes.plan(data, nodes, port).run();
    }
  }
}
