// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.Peer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Who a host is and where.
 *
 * @param self this process as other peers know it; the port of its address is listened on
 * @param bindHost the address to listen on; loopback unless peers are authenticated
 * @param directory the host's folder; not shared with another host
 * @param settings how it behaves
 * @param tls mutual TLS between peers; empty: none
 * @param plants faults planted on purpose, to prove that a test finds them; empty in production
 */
public record RaftHostConfig(
    Peer self,
    String bindHost,
    Path directory,
    RaftSettings settings,
    Optional<Tls> tls,
    Set<Plant> plants) {

  public RaftHostConfig {
    plants = Set.copyOf(plants);
    int colon = self.address().lastIndexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("expected host:port, found " + self.address());
    }
  }

  /** Without TLS and faults. */
  public static RaftHostConfig plain(
      Peer self, String bindHost, Path directory, RaftSettings settings) {
    return new RaftHostConfig(self, bindHost, directory, settings, Optional.empty(), Set.of());
  }

  int port() {
    return Integer.parseInt(self.address().substring(self.address().lastIndexOf(':') + 1));
  }

  /**
   * Both sides of a connection are authenticated. Ratis builds its TLS context once; managers that
   * reload themselves make rotation possible.
   */
  public record Tls(X509ExtendedKeyManager key, X509ExtendedTrustManager trust) {}

  /** Faults. */
  public enum Plant {
    /** Strong reads do not ask the voters. */
    NO_READ_BARRIER,
    /** Entries are acknowledged before they are fsynced, and folders never are. */
    NO_FSYNC
  }
}
