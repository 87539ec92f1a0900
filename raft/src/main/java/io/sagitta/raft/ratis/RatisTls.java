// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;

/** Mutual TLS for every port of the Ratis server. */
final class RatisTls {
  private RatisTls() {}

  static void put(Parameters parameters, RaftHostConfig.Tls tls) {
    GrpcTlsConfig config = new GrpcTlsConfig(tls.key(), tls.trust(), true);
    GrpcConfigKeys.TLS.setConf(parameters, config);
    GrpcConfigKeys.Server.setTlsConf(parameters, config);
    GrpcConfigKeys.Client.setTlsConf(parameters, config);
    GrpcConfigKeys.Admin.setTlsConf(parameters, config);
  }
}
