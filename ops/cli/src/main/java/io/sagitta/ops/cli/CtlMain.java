// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/** {@code sagitta ctl}. */
public final class CtlMain {
  private CtlMain() {}

  private static final String LOG_CONFIGURATION = "logback.configurationFile";

  /** Runs one command and exits with its code. */
  public static void main(String[] args) {
    // Before anything asks for a logger: other parts on the class path have configurations too.
    if (System.getProperty(LOG_CONFIGURATION) == null) {
      System.setProperty(LOG_CONFIGURATION, "ctl-logback.xml");
    }
    // gRPC logs by java.util.logging what the failure says in one line.
    LogManager.getLogManager().reset();
    // UTF-8 whatever the locale: stored text and ids go out as they came in.
    PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    PrintStream err =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    int code =
        Ctl.run(args, new Terminal(out, err, Terminal.widthOfStdout()), ClientConnection::open);
    out.flush();
    System.exit(code);
  }
}
