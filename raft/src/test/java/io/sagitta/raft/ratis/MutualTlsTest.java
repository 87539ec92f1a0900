// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.raft.GroupId;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MutualTlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @Test
  @Tag("slow")
  void peersTalkOverMutualTlsAndAStrangerIsNotHeard(@TempDir Path directory) throws Exception {
    RaftHostConfig.Tls ours = tls(directory.resolve("ours.p12"));
    RaftHostConfig.Tls strangers = tls(directory.resolve("strangers.p12"));
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.tls = Optional.of(ours);
      cluster.start("a");
      cluster.start("b");
      GroupId group = cluster.create("a", "b");
      long index = cluster.write(group, 1);
      cluster.awaitApplied(group, index, "a", "b");

      String follower = cluster.awaitLeader(group).equals("a") ? "b" : "a";
      cluster.stop(follower);
      cluster.tls = Optional.of(strangers);
      cluster.start(follower);
      TestCluster.await("the leader gives up", () -> cluster.leader(group).isEmpty());
      assertThat(cluster.host(follower).status(group).orElseThrow().leader()).isEmpty();
    }
  }

  /** A self-signed certificate that trusts itself and nobody else. */
  private static RaftHostConfig.Tls tls(Path file) throws Exception {
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    "peer",
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=peer",
                    "-ext",
                    "san=ip:127.0.0.1",
                    "-keystore",
                    file.toString(),
                    "-storepass",
                    new String(PASSWORD)))
            .inheritIO()
            .start();
    assertThat(keytool.waitFor()).isZero();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, PASSWORD);
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("peer", store.getCertificate("peer"));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    return new RaftHostConfig.Tls(
        (X509ExtendedKeyManager) keys.getKeyManagers()[0],
        (X509ExtendedTrustManager) trust.getTrustManagers()[0]);
  }
}
