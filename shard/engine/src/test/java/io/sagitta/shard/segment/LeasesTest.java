// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LeasesTest {
  private final List<String> closed = new ArrayList<>();
  private final Leases<String> leases = new Leases<>("a");

  @Test
  void whatNobodyHoldsIsClosedAtOnce() {
    publish("b", "a's");

    assertThat(closed).containsExactly("a's");
    assertThat(leases.current()).isEqualTo("b");
  }

  @Test
  void aLeaseKeepsItsValueAndAllAfterIt() {
    Leases.Lease<String> a = leases.acquire();
    publish("b", "a's");
    Leases.Lease<String> b = leases.acquire();
    publish("c", "b's");
    assertThat(closed).isEmpty();

    b.close();
    assertThat(closed).as("the lease on a may reach it too").isEmpty();
    assertThat(a.value()).isEqualTo("a");

    a.close();
    assertThat(closed).containsExactly("a's", "b's");
  }

  @Test
  void closingALeaseTwiceCountsOnce() {
    Leases.Lease<String> first = leases.acquire();
    Leases.Lease<String> second = leases.acquire();
    first.close();
    first.close();
    publish("b", "a's");

    assertThat(closed).isEmpty();
    second.close();
    assertThat(closed).containsExactly("a's");
    assertThatThrownBy(second::value).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void leasesOutliveTheEnd() {
    Leases.Lease<String> lease = leases.acquire();
    publish("nothing", "all");
    leases.end();

    assertThat(closed).isEmpty();
    assertThatThrownBy(leases::acquire).isInstanceOf(IllegalStateException.class);
    lease.close();
    assertThat(closed).containsExactly("all");
  }

  @Test
  void aLongChainOfValuesEndsWithoutDeepRecursion() {
    Leases.Lease<String> first = leases.acquire();
    for (int i = 0; i < 100_000; i++) {
      publish("v" + i, "r" + i);
    }
    first.close();

    assertThat(closed).hasSize(100_000);
  }

  @Test
  void readersNeverSeeAValueWhoseMemoryIsGone() throws Exception {
    record Memory(AtomicBoolean open) {}
    Leases<Memory> memories = new Leases<>(new Memory(new AtomicBoolean(true)));
    AtomicBoolean done = new AtomicBoolean();
    try (ExecutorService readers = Executors.newFixedThreadPool(2)) {
      List<Future<Long>> reads = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        reads.add(
            readers.submit(
                () -> {
                  long seen = 0;
                  while (!done.get()) {
                    try (Leases.Lease<Memory> lease = memories.acquire()) {
                      assertThat(lease.value().open).isTrue();
                      seen++;
                    }
                  }
                  return seen;
                }));
      }
      for (int i = 0; i < 50_000; i++) {
        Memory old = memories.current();
        memories.publish(new Memory(new AtomicBoolean(true)), List.of(() -> old.open.set(false)));
      }
      done.set(true);
      for (Future<Long> read : reads) {
        read.get();
      }
    }
  }

  private void publish(String next, String retired) {
    leases.publish(next, List.of(() -> closed.add(retired)));
  }
}
