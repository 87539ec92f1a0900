// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.NodeId;
import io.sagitta.node.NodeConfig.HostPort;
import io.sagitta.node.placement.proto.GetState;
import io.sagitta.node.placement.proto.MetadataReply;
import io.sagitta.node.placement.proto.MetadataRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MembersTest {
  private static final HostPort SILENT = new HostPort("127.0.0.1", 1);
  private static final HostPort OTHER = new HostPort("127.0.0.1", 2);

  @TempDir Path folder;

  private record Asked(HostPort member, Duration timeout) {}

  @Test
  void aMemberThatNeverAnswersDelaysTheStateByItsShareAndNoMore() {
    Duration patience = Duration.ofSeconds(30);
    List<Asked> asked = new ArrayList<>();
    PeerCalls peers =
        new PeerCalls() {
          @Override
          public CompletableFuture<byte[]> metadata(
              HostPort member, byte[] request, Duration timeout) {
            asked.add(new Asked(member, timeout));
            return member.equals(SILENT)
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture(
                    MetadataReply.newBuilder()
                        .setUnchanged(MetadataReply.Unchanged.getDefaultInstance())
                        .build()
                        .toByteArray());
          }

          @Override
          public CompletableFuture<byte[]> placement(
              HostPort member, byte[] request, Duration timeout) {
            throw new AssertionError("nobody places anything");
          }
        };
    ClusterView view = new ClusterView(folder);
    Members members =
        new Members(
            new NodeId(new UUID(1, 1)),
            new MetaGroup(view, InstantSource.system()),
            view,
            null, // this process leads nothing
            peers,
            List.of(SILENT, OTHER));

    MetadataReply reply =
        members.ask(
            MetadataRequest.newBuilder()
                .setGetState(GetState.newBuilder().setFromLeader(true))
                .build(),
            patience);

    assertThat(reply.hasUnchanged()).isTrue();
    assertThat(asked).extracting(Asked::member).containsExactly(SILENT, OTHER);
    assertThat(asked.getFirst().timeout()).isEqualTo(MetadataService.STATE_TIMEOUT);
  }
}
