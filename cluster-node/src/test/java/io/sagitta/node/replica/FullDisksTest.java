// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.model.NodeId;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("B039")
class FullDisksTest {
  private static final List<NodeId> NODES =
      java.util.stream.LongStream.range(0, 6).mapToObj(i -> new NodeId(new UUID(0, i))).toList();

  private final AtomicLong nanoTime = new AtomicLong(-5);
  private final FullDisks disks = new FullDisks(nanoTime::get);

  private boolean refuses(int voters) {
    return disks.refusal(NODES.subList(0, voters)).isPresent();
  }

  @Test
  void refusesExactlyWhileThoseWithRoomAreNoMajority() {
    for (int voters = 1; voters <= 5; voters++) {
      for (int full = 0; full <= voters; full++) {
        disks.heard(NODES.subList(0, full));
        assertThat(refuses(voters))
            .as("%d of %d are full", full, voters)
            .isEqualTo(voters - full < voters / 2 + 1);
      }
    }
  }

  @Test
  void theFullDisksOfNodesThatDoNotVoteAreNobodysConcern() {
    disks.heard(NODES.subList(3, 6));
    assertThat(disks.any()).isTrue();
    assertThat(refuses(3)).isFalse();
  }

  @Test
  void theLastWordCountsAndNotForEver() {
    disks.heard(NODES);
    assertThat(refuses(3)).isTrue();
    disks.heard(List.of());
    assertThat(refuses(3)).isFalse();
    disks.heard(NODES);
    nanoTime.addAndGet(FullDisks.VALID.toNanos());
    assertThat(refuses(3)).isTrue();
    nanoTime.addAndGet(1);
    assertThat(refuses(3)).isFalse();
    assertThat(disks.any()).isFalse();
  }

  @Test
  void saysWhichNodesAreFull() {
    disks.heard(NODES.subList(1, 3));
    assertThat(disks.refusal(NODES.subList(0, 3)))
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .contains(
                        "2 of the shard's 3", NODES.get(1).toString(), NODES.get(2).toString())
                    .doesNotContain(NODES.get(0).toString()));
  }
}
