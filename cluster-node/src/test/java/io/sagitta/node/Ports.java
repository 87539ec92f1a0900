// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for nodes under test, below the range that the system hands out by itself. Test processes
 * that run side by side have ranges of their own, for a node that is down holds no port.
 */
final class Ports {
  private static final int FIRST = 20_000;
  private static final int COUNT = 12_000;
  private static final int FORKS = 4;
  private static final int SHARE = COUNT / FORKS;
  private static final int FORK = Integer.getInteger("sagitta.fork", 1) % FORKS;
  private static final AtomicInteger next =
      new AtomicInteger((int) (ProcessHandle.current().pid() * 60 % SHARE));

  private Ports() {}

  /** Six free ports in a row. */
  static NodeConfig.Ports six() {
    for (int tries = 0; tries < SHARE / 6; tries++) {
      int base = FIRST + FORK * SHARE + Math.floorMod(next.getAndAdd(6), SHARE);
      if (areFree(base, 6)) {
        return NodeConfig.Ports.from(base);
      }
    }
    throw new IllegalStateException("no free ports");
  }

  private static boolean areFree(int base, int count) {
    for (int port = base; port < base + count; port++) {
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        socket.setReuseAddress(true);
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }
}
