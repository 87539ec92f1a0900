// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableDirectoryTest {
  private final AtomicInteger fsyncs = new AtomicInteger();
  private Path folder;
  private DurableDirectory directory;

  @BeforeEach
  void setUp(@TempDir Path temporary) {
    folder = temporary;
    directory =
        new DurableDirectory(
            folder,
            d -> {
              if (d.equals(folder)) {
                fsyncs.incrementAndGet();
              }
            });
  }

  @Test
  void anOldUnchangedFolderIsFsyncedOnce() throws Exception {
    age(folder, Duration.ofMinutes(1));
    for (int i = 0; i < 10; i++) {
      directory.syncIfChanged();
    }
    assertThat(fsyncs).hasValue(1);
  }

  @Test
  void aYoungTimeIsNotTrustedBecauseAnotherChangeMayCarryIt() throws Exception {
    age(folder, Duration.ZERO);
    directory.syncIfChanged();
    directory.syncIfChanged();
    assertThat(fsyncs.get()).isEqualTo(2);
  }

  @Test
  void anyOtherTimeIsAChangeAlsoAnEarlierOne() throws Exception {
    age(folder, Duration.ofMinutes(1));
    directory.syncIfChanged();
    age(folder, Duration.ofMinutes(2));
    directory.syncIfChanged();
    directory.syncIfChanged();
    assertThat(fsyncs).hasValue(2);
  }

  @Test
  void aNewFileIsAChange() throws Exception {
    age(folder, Duration.ofMinutes(1));
    directory.syncIfChanged();
    Files.createFile(folder.resolve("log_inprogress_7"));
    directory.syncIfChanged();
    assertThat(fsyncs).hasValue(2);
  }

  private static void age(Path folder, Duration age) throws Exception {
    Files.setLastModifiedTime(folder, FileTime.from(Instant.now().minus(age)));
  }
}
