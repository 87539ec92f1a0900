// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SmallFileTest {
  @TempDir Path folder;

  @Test
  void readsWhatWasWrittenLast() throws IOException {
    SmallFile file = new SmallFile(folder.resolve("f"), "SGTESTED", 1);
    assertThat(file.read()).isEmpty();
    file.write("one".getBytes(StandardCharsets.UTF_8));
    file.write("two and more".getBytes(StandardCharsets.UTF_8));
    assertThat(file.read().orElseThrow())
        .asString(StandardCharsets.UTF_8)
        .isEqualTo("two and more");
    assertThat(folder).isDirectoryContaining("glob:**f").isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void everyFlippedBitIsNoticed() throws IOException {
    SmallFile file = new SmallFile(folder.resolve("f"), "SGTESTED", 1);
    file.write("content".getBytes(StandardCharsets.UTF_8));
    byte[] good = Files.readAllBytes(file.path());
    for (int bit = 0; bit < good.length * 8; bit++) {
      byte[] bad = good.clone();
      bad[bit / 8] ^= (byte) (1 << (bit % 8));
      Files.write(file.path(), bad);
      assertThatThrownBy(file::read).as("bit %s", bit).isInstanceOf(IOException.class);
    }
  }

  @Test
  void everyTruncationIsNoticed() throws IOException {
    SmallFile file = new SmallFile(folder.resolve("f"), "SGTESTED", 1);
    file.write("content".getBytes(StandardCharsets.UTF_8));
    byte[] good = Files.readAllBytes(file.path());
    for (int length = 0; length < good.length; length++) {
      Files.write(file.path(), java.util.Arrays.copyOf(good, length));
      assertThatThrownBy(file::read).as("length %s", length).isInstanceOf(IOException.class);
    }
  }

  @Test
  void anotherVersionIsSaidToBeOne() throws IOException {
    new SmallFile(folder.resolve("f"), "SGTESTED", 2).write(new byte[0]);
    assertThatThrownBy(() -> new SmallFile(folder.resolve("f"), "SGTESTED", 1).read())
        .hasMessageContaining("format version 2, this software reads 1")
        .hasMessageContaining("newer");
  }
}
