// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk itself: it forgets what was not flushed and nothing else, unless it lies. */
class PowerCutDeviceTest {
  @TempDir Path folder;

  @BeforeEach
  void onlyWhereItCanBePlayed() {
    assumeTrue(
        PowerCutDevice.missing().isEmpty(),
        () -> "SKIPPED: power cuts cannot be played here: " + PowerCutDevice.missing().get());
  }

  private static void write(Path file, boolean sync) throws IOException {
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      out.write(java.nio.ByteBuffer.wrap(new byte[10_000]));
      if (sync) {
        out.force(true);
      }
    }
    if (sync) {
      try (FileChannel directory = FileChannel.open(file.getParent())) {
        directory.force(true);
      }
    }
  }

  @Test
  void aPowerCutForgetsWhatWasNotSyncedAndNothingElse() throws Exception {
    try (PowerCutDevice device = PowerCutDevice.create(folder)) {
      Path synced = device.mountPoint().resolve("synced");
      Path unsynced = device.mountPoint().resolve("unsynced");
      for (int round = 0; round < 2; round++) {
        write(device.mountPoint().resolve("synced-" + round), true);
        write(synced, true);
        write(unsynced, false);
        device.cut();
        device.powerOn(PowerCutDevice.Cache.WRITE_BACK);
        assertThat(synced).hasSize(10_000);
        assertThat(device.mountPoint().resolve("synced-" + round)).hasSize(10_000);
        assertThat(unsynced).doesNotExist();
      }
    }
  }

  @Test
  void aDiskThatLiesForgetsWhatWasSynced() throws Exception {
    try (PowerCutDevice device = PowerCutDevice.create(folder)) {
      Path before = device.mountPoint().resolve("before");
      Path after = device.mountPoint().resolve("after");
      write(before, true);
      device.remount(PowerCutDevice.Cache.LYING);
      assertThat(before).hasSize(10_000);
      write(after, true);
      device.cut();
      device.powerOn(PowerCutDevice.Cache.WRITE_BACK);
      assertThat(before).hasSize(10_000);
      assertThat(Files.exists(after)).isFalse();
    }
  }
}
