// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnMountsTest {
  private static final String DEV = "25 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw";
  private static final String ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw";
  private static final Path PLACE = Path.of("/tmp/a disk/mnt");

  @TempDir Path folder;
  private Path table;
  private final List<List<String>> ran = new ArrayList<>();
  private OwnMounts mounts;

  @BeforeEach
  void aTableWithOthersMounts() throws IOException {
    table = folder.resolve("mountinfo");
    mounts = new OwnMounts(table, ran::add);
    mounted();
  }

  private void mounted(String... more) throws IOException {
    List<String> lines = new ArrayList<>(List.of(ROOT, DEV));
    lines.addAll(List.of(more));
    Files.write(table, lines);
  }

  private static String at(int number) {
    return number + " 27 7:0 / /tmp/a\\040disk/mnt rw,relatime - ext4 /dev/loop0 rw";
  }

  @Test
  void whatWasEnteredIsUnmountedOnceByItsVeryName() throws Exception {
    mounted(at(90));
    mounts.enter(PLACE);
    assertThat(mounts.unmount(PLACE, true)).isTrue();
    assertThat(ran)
        .containsExactly(List.of("umount", "--no-canonicalize", "--lazy", PLACE.toString()));
    assertThat(mounts.unmount(PLACE, true)).isFalse();
    assertThat(ran).hasSize(1);
  }

  @Test
  void whatWasNeverEnteredStays() throws Exception {
    mounted(at(90));
    assertThat(mounts.unmount(PLACE, true)).isFalse();
    assertThat(mounts.unmount(Path.of("/dev"), true)).isFalse();
    assertThat(ran).isEmpty();
  }

  @Test
  void whatSomebodyElseMountedAtTheSamePlaceStays() throws Exception {
    mounted(at(90));
    mounts.enter(PLACE);
    mounted(at(90), at(91));
    assertThat(mounts.unmount(PLACE, false)).isFalse();
    assertThat(ran).isEmpty();
  }

  @Test
  void aPlaceThatIsNoMountPointAnyMoreIsLeftAlone() throws Exception {
    mounted(at(90));
    mounts.enter(PLACE);
    mounted();
    assertThat(mounts.unmount(PLACE, true)).isFalse();
    assertThat(ran).isEmpty();
  }

  @Test
  void aFolderInsideOrAboveAMountIsNoMount() throws Exception {
    mounted(at(90));
    assertThat(mounts.isMounted(PLACE)).isTrue();
    assertThat(mounts.isMounted(PLACE.resolve("data"))).isFalse();
    assertThat(mounts.isMounted(PLACE.getParent())).isFalse();
    assertThatThrownBy(() -> mounts.enter(PLACE.getParent()))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("nothing was mounted");
  }
}
