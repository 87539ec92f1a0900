// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Passes the connections to one address and port on to another, and stops doing so while it is cut:
 * new connections are accepted and lead nowhere, bytes under way wait. One virtual thread a
 * direction of a connection.
 */
final class PeerLink implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;

  private final ServerSocket listener;
  private final String host;
  private final int port;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition healed = lock.newCondition();
  private boolean cut; // guarded by lock
  private boolean closed; // guarded by lock

  private PeerLink(ServerSocket listener, String host, int port) {
    this.listener = listener;
    this.host = host;
    this.port = port;
  }

  /** Listens at {@code address} on the port it passes on to. */
  static PeerLink open(String address, String host, int port) {
    try {
      ServerSocket listener = new ServerSocket();
      listener.setReuseAddress(true);
      listener.bind(new InetSocketAddress(InetAddress.getByName(address), port));
      PeerLink link = new PeerLink(listener, host, port);
      Thread.ofVirtual().name("link-" + address + ":" + port).start(link::accept);
      return link;
    } catch (IOException e) {
      throw new UncheckedIOException("no link at " + address + ":" + port, e);
    }
  }

  void setCut(boolean now) {
    lock.lock();
    try {
      cut = now;
      healed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    while (true) {
      try {
        Socket caller = listener.accept();
        open.add(caller);
        Thread.ofVirtual().start(() -> pass(caller));
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  private void pass(Socket caller) {
    Socket callee = new Socket();
    open.add(callee);
    try {
      awaitRoute();
      callee.connect(new InetSocketAddress(InetAddress.getByName(host), port));
      callee.setTcpNoDelay(true);
      caller.setTcpNoDelay(true);
      Thread back = Thread.ofVirtual().start(() -> copy(callee, caller));
      copy(caller, callee);
      back.join();
    } catch (IOException e) {
      // A node that is down refuses, as it would without us.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      drop(caller);
      drop(callee);
    }
  }

  private void copy(Socket from, Socket to) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int n; (n = in.read(buffer)) >= 0; ) {
        awaitRoute();
        out.write(buffer, 0, n);
      }
      awaitRoute();
      to.shutdownOutput();
    } catch (IOException e) {
      // One end broke: so does the other, as soon as the network lets it know.
      try {
        awaitRoute();
      } catch (IOException closing) {
        return;
      }
      drop(from);
      drop(to);
    }
  }

  /** Waits while the link is cut. */
  private void awaitRoute() throws IOException {
    lock.lock();
    try {
      while (cut && !closed) {
        healed.awaitUninterruptibly();
      }
      if (closed) {
        throw new IOException("the link is closed");
      }
    } finally {
      lock.unlock();
    }
  }

  private void drop(Socket socket) {
    open.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      healed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      Set.copyOf(open).forEach(this::drop);
    }
  }
}
