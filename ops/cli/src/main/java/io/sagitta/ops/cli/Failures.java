// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Reason;
import io.sagitta.model.SagittaException;
import picocli.CommandLine.ParameterException;

/**
 * How a failure shows: one line on standard error, with {@code --json} an object on standard output
 * too, a trace only when asked for, and the exit code of the contract.
 */
record Failures(Terminal terminal, boolean json, boolean debug) {

  /** The command line could not be understood. */
  int usage(String command, ParameterException failure) {
    String message = oneLine(failure.getMessage());
    String help = message + ", see: " + full(command) + " --help";
    return show(SagittaException.invalid(message), failure, "sagitta ctl: " + help);
  }

  /** The command was refused or broke. */
  int failed(String command, Endpoint endpoint, Exception failure) {
    if (failure instanceof SagittaException error) {
      SagittaException shown =
          new SagittaException(
              error.code(),
              OptionWords.translate(command, oneLine(error.getMessage())),
              error.retryAfterMs().orElse(-1),
              error);
      return show(shown, failure, "sagitta ctl: " + shown.getMessage() + where(shown, endpoint));
    }
    SagittaException bug =
        new SagittaException(
            ErrorCode.INTERNAL, "unexpected failure: " + oneLine(Reason.of(failure)), failure);
    return show(bug, failure, "sagitta ctl: " + bug.getMessage() + " (--debug shows the trace)");
  }

  private int show(SagittaException error, Exception failure, String line) {
    if (json) {
      terminal.out().println(object(error));
    }
    terminal.err().println(line);
    if (debug) {
      failure.printStackTrace(terminal.err());
    }
    return error.code().exitCode();
  }

  private static ObjectNode object(SagittaException error) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    ObjectNode inner = object.putObject("error");
    inner.put("code", error.code().qualified());
    inner.put("message", error.getMessage());
    inner.put("exit_code", error.code().exitCode());
    error.retryAfterMs().ifPresent(ms -> inner.put("retry_after_ms", ms));
    return object;
  }

  private static String where(SagittaException error, Endpoint endpoint) {
    boolean ofTheWay =
        switch (error.code()) {
          case UNAVAILABLE, DEADLINE_EXCEEDED, UNIMPLEMENTED -> true;
          default -> false;
        };
    return ofTheWay ? " (--endpoint " + endpoint + ")" : "";
  }

  private static String full(String command) {
    return command.startsWith("sagitta") ? command : "sagitta ctl " + command;
  }

  /** The message without line breaks and control characters. */
  private static String oneLine(String message) {
    return message == null
        ? "no further reason"
        : message.strip().replaceAll("\\s*\\R\\s*", "; ").replaceAll("\\p{Cntrl}", "?");
  }
}
