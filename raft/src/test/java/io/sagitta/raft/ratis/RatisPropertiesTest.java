// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.junit.jupiter.api.Test;

class RatisPropertiesTest {
  /** Keys that take no value of ours, and why. */
  private static final Set<String> NOT_SET =
      Set.of(
          // TLS is given as objects (RatisTls), never as file names; these are not read then.
          "raft.grpc.tls.enabled",
          "raft.grpc.tls.mutual_authn.enabled",
          "raft.grpc.tls.private.key.file.name",
          "raft.grpc.tls.cert.chain.file.name",
          "raft.grpc.tls.trust.store");

  @Test
  void noDefaultOfRatisIsTakenUnread() throws Exception {
    List<String> keys = new ArrayList<>();
    for (Class<?> type :
        List.of(RaftConfigKeys.class, RaftServerConfigKeys.class, GrpcConfigKeys.class)) {
      collect(type, keys);
    }
    assertThat(keys).hasSizeGreaterThan(90);
    RaftProperties properties =
        RatisProperties.of(
            RaftSettings.shards(), Path.of("/groups"), Path.of("/removed"), "127.0.0.1", 1);
    assertThat(keys)
        .filteredOn(key -> !NOT_SET.contains(key) && properties.getRaw(key) == null)
        .as("keys of Ratis that RatisProperties does not set")
        .isEmpty();
  }

  @Test
  void nothingIsAcknowledgedBeforeItIsFsynced() {
    RaftProperties properties =
        RatisProperties.of(
            RaftSettings.shards(), Path.of("/groups"), Path.of("/removed"), "127.0.0.1", 1);
    assertThat(RaftServerConfigKeys.Log.unsafeFlushEnabled(properties)).isFalse();
    assertThat(RaftServerConfigKeys.Log.asyncFlushEnabled(properties)).isFalse();
    assertThat(RaftServerConfigKeys.Log.StateMachineData.sync(properties)).isTrue();
    assertThat(RaftServerConfigKeys.storageFreeSpaceMin(properties).getSize())
        .as("a full node must still start, to be read and emptied")
        .isZero();
  }

  private static void collect(Class<?> type, List<String> keys) throws IllegalAccessException {
    for (Field field : type.getFields()) {
      if (field.getName().endsWith("_KEY") && field.getDeclaringClass() == type) {
        keys.add((String) field.get(null));
      }
    }
    for (Class<?> inner : type.getDeclaredClasses()) {
      collect(inner, keys);
    }
  }
}
