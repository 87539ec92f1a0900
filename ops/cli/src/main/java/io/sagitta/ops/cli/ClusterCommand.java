// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.flight.Command;
import io.sagitta.flight.Commands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;

/** A command that asks a cluster. */
abstract class ClusterCommand implements Callable<Integer> {
  /** Numbers keep their digits on the way into a request. */
  protected static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private Ctl ctl;

  /** Called by the factory, before options are parsed. */
  final void attach(Ctl root) {
    ctl = root;
  }

  @Override
  public final Integer call() {
    try (Connection connection = ctl.connect()) {
      return run(connection, ctl.printer());
    }
  }

  /** Carries the command out; the answer is the exit code. */
  abstract int run(Connection connection, Printer printer);

  final Duration timeout() {
    return ctl.timeout();
  }

  /** The request that {@code body} is, checked as the server checks it. */
  static Command request(String verb, ObjectNode body) {
    return Commands.parseBody(verb, body.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** {@code {"collection": name}}. */
  static ObjectNode collectionBody(String collection) {
    return JSON.objectNode().put("collection", collection);
  }

  static JsonNode describe(Connection connection, String collection) {
    return connection.act(request("describe", collectionBody(collection)));
  }
}
