// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On a disk of 100 MB of which 90 and 95 percent are the marks. */
@Tag("B039")
class DiskSpaceTest {
  private static final long MB = 1_000_000;

  private final FakeVolume volume = new FakeVolume();
  private long flushes;
  private long logs;
  private long nanos;
  private final DiskSpace disk =
      new DiskSpace(volume, 90, 95, new DiskSpace.Owed(() -> flushes, () -> logs), () -> nanos);

  private static final class FakeVolume implements DiskSpace.Volume {
    long free = 50 * MB;
    boolean broken;
    int looks;

    @Override
    public long totalBytes() {
      return 100 * MB;
    }

    @Override
    public long freeBytes() throws IOException {
      looks++;
      if (broken) {
        throw new IOException("broken, as asked");
      }
      return free;
    }
  }

  private boolean writes(long bytes) {
    return disk.refusal(bytes, false).isEmpty();
  }

  private boolean deletes(long bytes) {
    return disk.refusal(bytes, true).isEmpty();
  }

  private void aWhileLater() {
    nanos += 100 * MB;
  }

  @Test
  void writesStopAtTheMarkAndDeletesGoOnUntilOnlyTheLogsPartIsLeft() {
    volume.free = 6 * MB;
    aWhileLater();
    assertThat(writes(100_000)).isTrue();
    volume.free = 5 * MB;
    aWhileLater();
    assertThat(writes(100_000)).isFalse();
    assertThat(deletes(100_000)).isTrue();
    volume.free = MB;
    aWhileLater();
    assertThat(deletes(100_000)).isFalse();
    volume.free = 50 * MB;
    aWhileLater();
    assertThat(writes(100_000)).isTrue();
  }

  @Test
  void whatIsOwedToFlushesAndLogsIsNotFree() {
    flushes = 40 * MB;
    aWhileLater();
    assertThat(writes(MB)).isTrue();
    logs = 6 * MB;
    aWhileLater();
    assertThat(writes(MB)).isFalse();
    assertThat(disk.refusal(MB, false).orElseThrow())
        .contains("the disk is full", "50000000 are free", "46000000 of them are owed");
    assertThat(deletes(MB)).as("flushes can wait for what makes room").isTrue();
  }

  /** A row comes to the log and to a segment's files. */
  @Test
  void aWriteNeedsRoomForItselfTwice() {
    volume.free = 10 * MB;
    aWhileLater();
    assertThat(writes(2 * MB)).isTrue();
    assertThat(writes(3 * MB)).isFalse();
  }

  @Test
  void whatWasLetInCountsBeforeTheDiskIsLookedAtAgain() {
    volume.free = 15 * MB;
    aWhileLater();
    int looks = volume.looks;
    int letIn = 0;
    while (writes(MB)) {
      assertThat(letIn).isLessThan(100);
      disk.taken(MB);
      letIn++;
    }
    assertThat(letIn).as("of 10 MB, each twice").isEqualTo(4);
    assertThat(volume.looks - looks).as("cheap: nobody looked meanwhile").isLessThan(2);
    aWhileLater();
    assertThat(writes(MB)).as("the disk has the last word: nothing was written").isTrue();
  }

  @Test
  void graphsAreWrittenBelowTheirMarkAndCheckpointsAboveEveryOther() {
    volume.free = 20 * MB;
    aWhileLater();
    assertThat(disk.forDerived(9 * MB)).isTrue();
    assertThat(disk.forDerived(11 * MB)).isFalse();
    flushes = 5 * MB;
    aWhileLater();
    assertThat(disk.forDerived(9 * MB)).isFalse();
    assertThat(disk.forCheckpoint(18 * MB)).isTrue();
    assertThat(disk.forCheckpoint(19 * MB)).isFalse();
  }

  @Test
  void aVolumeThatCannotBeReadStaysAsItWas() {
    assertThat(disk.usedPercent()).isEqualTo(50);
    volume.broken = true;
    volume.free = 0;
    aWhileLater();
    assertThat(disk.usedPercent()).isEqualTo(50);
    assertThat(writes(MB)).isTrue();
    volume.broken = false;
    aWhileLater();
    assertThat(writes(MB)).isFalse();
  }
}
