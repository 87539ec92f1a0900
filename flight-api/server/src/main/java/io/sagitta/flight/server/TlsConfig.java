// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.server;

import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.Reason;
import io.sagitta.model.SagittaException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * TLS of one port, as PEM files.
 *
 * @param certificateChain the server's certificate and those that vouch for it
 * @param privateKey its key, PKCS #8, without a password
 * @param clientCertificates authorities whose clients are let in; absent: clients show no
 *     certificate
 */
public record TlsConfig(Path certificateChain, Path privateKey, Optional<Path> clientCertificates) {

  static ServerCredentials credentials(Optional<TlsConfig> tls) {
    if (tls.isEmpty()) {
      return InsecureServerCredentials.create();
    }
    TlsConfig config = tls.get();
    try {
      TlsServerCredentials.Builder credentials =
          TlsServerCredentials.newBuilder()
              .keyManager(config.certificateChain.toFile(), config.privateKey.toFile());
      if (config.clientCertificates.isPresent()) {
        credentials
            .trustManager(config.clientCertificates.get().toFile())
            .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE);
      }
      return credentials.build();
    } catch (IOException e) {
      throw new SagittaException(
          ErrorCode.INVALID_ARGUMENT,
          "cannot read the TLS files of " + config + ": " + Reason.of(e),
          e);
    }
  }
}
