// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.raft.GroupId;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupCyclesTest {
  @Test
  void groupsThatComeAndGoLeaveNoThreadsAndNoBuffersBehind(@TempDir Path directory)
      throws Exception {
    cycles(directory, 1);
  }

  @Test
  @Tag("slow")
  void manyGroupsThatComeAndGoLeaveNoThreadsAndNoBuffersBehind(@TempDir Path directory)
      throws Exception {
    cycles(directory, 40);
  }

  private static void cycles(Path directory, int cycles) throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.startAll("a", "b");
      cycle(cluster);
      TestCluster.await("threads of the first group gone", () -> groupThreads().isEmpty());
      int threads = Thread.activeCount();
      long direct = directBytes();
      for (int i = 0; i < cycles; i++) {
        cycle(cluster);
      }
      TestCluster.await("threads of all groups gone", () -> groupThreads().isEmpty());
      assertThat(Thread.activeCount()).isLessThan(threads + 12);
      assertThat(directBytes()).isLessThan(direct + (4L << 20));
    }
  }

  /** As Ratis leaves one behind when a leader steps down while its group is removed. */
  @Test
  void aFollowerThreadThatStartsWhileItsGroupIsRemovedEndsWithIt(@TempDir Path directory)
      throws Exception {
    try (TestCluster cluster = new TestCluster(directory, TestCluster.fast())) {
      cluster.startAll("a");
      GroupId group = cluster.create("a");
      cluster.write(group, 1);
      ThreadGroup threads =
          cluster
              .host("a")
              .hostedGroup(group)
              .flatMap(HostedGroup::divisionEvenIfFailed)
              .orElseThrow()
              .getThreadGroup();
      CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
      Thread late =
          new Thread(
              threads,
              () -> {
                try {
                  Thread.sleep(Duration.ofMinutes(1));
                  interrupted.complete(false);
                } catch (InterruptedException e) {
                  interrupted.complete(true);
                }
              },
              "a@group-X-FollowerState");
      late.start();
      cluster.host("a").remove(group);
      assertThat(interrupted.get(30, TimeUnit.SECONDS)).isTrue();
      late.join();
    }
  }

  private static void cycle(TestCluster cluster) {
    GroupId group = cluster.create("a", "b");
    cluster.write(group, 1);
    cluster.calm();
  }

  private static List<String> groupThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(n -> n.contains("@group-"))
        .toList();
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(p -> p.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
