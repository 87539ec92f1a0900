// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes that are one echo server each. */
class PeerNetworkTest {
  @TempDir Path folder;

  private NodeSettings node(String name, int ports) {
    return new NodeSettings(
        name,
        folder.resolve(name),
        folder.resolve(name),
        ports,
        PeerNetwork.hostName(name),
        List.of(),
        Map.of(),
        Map.of(),
        "1g",
        Optional.empty());
  }

  private static ServerSocket echo(int port) throws IOException {
    ServerSocket server = new ServerSocket(port, 10, InetAddress.getByName("127.0.0.1"));
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                while (true) {
                  Socket socket = server.accept();
                  Thread.ofVirtual()
                      .start(
                          () -> {
                            try (socket) {
                              socket.getInputStream().transferTo(socket.getOutputStream());
                            } catch (IOException e) {
                              // The test closed it.
                            }
                          });
                }
              } catch (IOException e) {
                // The test closed it.
              }
            });
    return server;
  }

  private static Socket connect(String address, int port) throws IOException {
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress(InetAddress.getByName(address), port), 5_000);
    socket.setSoTimeout(200);
    return socket;
  }

  private static int echoed(Socket socket, int value) throws IOException {
    socket.getOutputStream().write(value);
    return socket.getInputStream().read();
  }

  @Test
  void bytesWaitWhileALinkIsCutAndFlowWhenItHeals() throws Exception {
    int ports = FreePorts.row(20, new SplittableRandom());
    NodeSettings first = node("n1", ports);
    NodeSettings second = node("n2", ports + 10);
    try (PeerNetwork network = new PeerNetwork();
        ServerSocket server = echo(second.internalPort())) {
      network.add(first);
      network.add(second);
      assertThat(server.isBound()).isTrue();
      try (Socket open = connect("127.1.1.2", second.internalPort())) {
        assertThat(echoed(open, 1)).isEqualTo(1);

        network.cutOff("n1");
        assertThatThrownBy(() -> echoed(open, 2)).isInstanceOf(SocketTimeoutException.class);
        try (Socket late = connect("127.1.1.2", second.internalPort())) {
          assertThatThrownBy(() -> echoed(late, 3)).isInstanceOf(SocketTimeoutException.class);

          network.heal("n1");
          open.setSoTimeout(10_000);
          late.setSoTimeout(10_000);
          assertThat(open.getInputStream().read()).isEqualTo(2);
          assertThat(late.getInputStream().read()).isEqualTo(3);
          assertThat(echoed(open, 4)).isEqualTo(4);
        }
      }
    }
  }

  @Test
  void eachNodeFindsTheOthersThroughTheNetworkAndItselfDirectly() throws Exception {
    int ports = FreePorts.row(20, new SplittableRandom());
    try (PeerNetwork network = new PeerNetwork()) {
      network.add(node("n1", ports));
      network.add(node("n2", ports + 10));
      assertThat(Files.readAllLines(folder.resolve("n2").resolve("hosts")))
          .contains(
              "127.1.2.1 n1.sagitta.test", "127.0.0.1 n2.sagitta.test", "127.0.0.1 localhost");
    }
  }
}
