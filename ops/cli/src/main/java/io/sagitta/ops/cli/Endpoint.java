// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a node's Flight port is.
 *
 * @param host name or address, IPv6 without brackets
 */
record Endpoint(String host, int port) {

  /** Parses {@code host:port} or {@code [v6]:port}. */
  static Endpoint parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    if (bracketed) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (!host.isEmpty() && (bracketed || host.indexOf(':') < 0) && port > 0 && port <= 65_535) {
        return new Endpoint(host, port);
      }
    } catch (NumberFormatException e) {
      throw new TypeConversionException(problem(text));
    }
    throw new TypeConversionException(problem(text));
  }

  private static String problem(String text) {
    return "'" + text + "' is not host:port";
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }

  /** For the option. */
  static final class Converter implements ITypeConverter<Endpoint> {
    @Override
    public Endpoint convert(String text) {
      return parse(text);
    }
  }
}
