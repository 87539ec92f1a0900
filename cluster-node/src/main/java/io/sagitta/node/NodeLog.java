// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Where a node's log goes: everything to files in its data folder, bounded by size; warnings also
 * to standard error. The layout is {@code node-logback.xml}. No vectors, ids or filter values are
 * ever logged.
 */
final class NodeLog {
  private NodeLog() {}

  static void start(Path folder, long fileBytes) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    context.putProperty("LOG_FOLDER", folder.toString());
    context.putProperty("LOG_FILE_BYTES", Long.toString(fileBytes));
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    try {
      configurator.doConfigure(NodeLog.class.getResource("/node-logback.xml"));
    } catch (JoranException e) {
      throw new IllegalStateException("node-logback.xml cannot be read", e);
    }
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }

  /** Writes out what is still in memory. */
  static void stop() {
    ((LoggerContext) LoggerFactory.getILoggerFactory()).stop();
  }
}
