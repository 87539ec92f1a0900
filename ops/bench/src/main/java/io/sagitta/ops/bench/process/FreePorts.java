// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.random.RandomGenerator;

/**
 * Finds ports that are free now. Below the range from which the system hands out ports of outgoing
 * connections, so that none of those takes one while its node is down.
 */
final class FreePorts {
  private static final int LOWEST = 12_000;
  private static final int HIGHEST = 32_000;
  private static final int TRIES = 1_000;

  private FreePorts() {}

  /** The first of {@code n} free ports in a row, at least {@code apart} from any other base. */
  static int row(int n, RandomGenerator random) {
    for (int attempt = 0; attempt < TRIES; attempt++) {
      int base = random.nextInt(LOWEST / 10, HIGHEST / 10) * 10;
      if (areFree(base, n)) {
        return base;
      }
    }
    throw new ClusterException("no " + n + " free ports in a row");
  }

  static boolean areFree(int base, int n) {
    for (int port = base; port < base + n; port++) {
      if (!isFree(port)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByName(NodeSettings.HOST), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
