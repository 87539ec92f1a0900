// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.node.service.DiskSpace.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("B039")
class ReserveTest {
  private static final long KIB = 1 << 10;
  private static final long MIB = 1 << 20;

  /** What a start of a node with no group and with two groups needs. */
  private static final long BARE = 512 * KIB;

  private static final long TWO_GROUPS = 704 * KIB;

  @TempDir private Path folder;

  /** Bytes that are not the reserve's. */
  private long othersBytes;

  private final long volumeBytes = 200 * MIB;

  /** Of a process of its own. */
  private Reserve reserve() {
    return new Reserve(
        file(),
        List.of(folder.resolve("meta"), folder.resolve("shards")),
        new Volume() {
          @Override
          public long totalBytes() {
            return volumeBytes;
          }

          @Override
          public long freeBytes() throws IOException {
            return volumeBytes - othersBytes - size();
          }
        });
  }

  private Path file() {
    return folder.resolve("reserve");
  }

  private long size() throws IOException {
    return Files.exists(file()) ? Files.size(file()) : 0;
  }

  private long free() throws IOException {
    return volumeBytes - othersBytes - size();
  }

  private void othersTakeAllBut(long bytes) throws IOException {
    othersBytes += free() - bytes;
  }

  private void twoGroups() throws IOException {
    Files.createDirectories(folder.resolve("meta/a"));
    Files.createDirectories(folder.resolve("shards/b"));
  }

  @Test
  void itHoldsFourStartsAndGrowsWithTheGroups() throws IOException {
    Reserve reserve = reserve();
    reserve.makeRoom();
    reserve.keep();
    assertThat(size()).isEqualTo(4 * BARE);
    twoGroups();
    reserve.keep();
    assertThat(size()).isEqualTo(4 * TWO_GROUPS);
    reserve.keep();
    assertThat(size()).isEqualTo(4 * TWO_GROUPS);
    assertThat(reserve.isTight()).isFalse();
  }

  @Test
  void itDoesNotFillAVolume() throws IOException {
    othersTakeAllBut(60 * MIB);
    reserve().keep();
    assertThat(size()).isZero();
  }

  @Test
  void aCrashWhileItGrowsLosesNothing() throws IOException {
    Files.write(file(), new byte[100_000]);
    reserve().keep();
    assertThat(size()).isEqualTo(4 * BARE);
  }

  @Test
  void whereThereIsRoomAStartTakesNothing() throws IOException {
    twoGroups();
    reserve().keep();
    othersTakeAllBut(3 * MIB);
    Reserve next = reserve();
    next.makeRoom();
    assertThat(next.isTight()).isFalse();
    assertThat(size()).isEqualTo(4 * TWO_GROUPS);
  }

  /** The usual steps of two logs are 2 MiB; small ones fit, so nothing is taken. */
  @Test
  void whereTheUsualStepsOfTheLogsDoNotFitTheyAreSmall() throws IOException {
    twoGroups();
    reserve().keep();
    othersTakeAllBut(2 * MIB);
    Reserve next = reserve();
    next.makeRoom();
    assertThat(next.isTight()).isTrue();
    assertThat(size()).isEqualTo(4 * TWO_GROUPS);
  }

  @Test
  void aVolumeThatOthersFillAgainAndAgainStandsManyStarts() throws IOException {
    twoGroups();
    reserve().keep();
    for (int start = 0; start < 20; start++) {
      othersTakeAllBut(0);
      Reserve reserve = reserve();
      reserve.makeRoom();
      assertThat(reserve.isTight()).isTrue();
      assertThat(free()).as("start %d", start).isEqualTo(TWO_GROUPS);
      othersBytes += 24 * KIB; // what this start leaves behind: blocks of its segments, log lines
      reserve.keep();
      assertThat(free()).isBetween(64 * KIB, 80 * KIB);
      reserve.keep();
      assertThat(free()).isBetween(64 * KIB, 80 * KIB);
    }
  }

  @Test
  void startsThatDoNotLastUseUpOneShareEach() throws IOException {
    twoGroups();
    reserve().keep();
    for (int start = 0; start < 4; start++) {
      othersTakeAllBut(0);
      reserve().makeRoom();
      assertThat(free()).as("start %d", start).isEqualTo(TWO_GROUPS);
    }
    othersTakeAllBut(0);
    reserve().makeRoom();
    assertThat(free()).isZero();
    othersBytes -= 100 * MIB;
    reserve().keep();
    assertThat(size()).isEqualTo(4 * TWO_GROUPS);
  }

  @Test
  void whatIsPartlyThereIsOnlyMadeUpFor() throws IOException {
    reserve().keep();
    othersTakeAllBut(500 * KIB);
    reserve().makeRoom();
    assertThat(free()).isEqualTo(BARE);
    assertThat(size()).isEqualTo(4 * BARE - 12 * KIB);
  }
}
