// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TarGzTest {
  @TempDir private Path folder;

  private static void member(OutputStream out, String name, byte[] content) throws IOException {
    byte[] header = new byte[512];
    byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, header, 0, bytes.length);
    byte[] size =
        String.format(java.util.Locale.ROOT, "%011o ", content.length)
            .getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(size, 0, header, 124, size.length);
    out.write(header);
    out.write(Arrays.copyOf(content, (content.length + 511) / 512 * 512));
  }

  private Path archive() throws IOException {
    Path archive = folder.resolve("a.tgz");
    byte[] large = new byte[1_300];
    Arrays.fill(large, (byte) 'x');
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(archive))) {
      member(out, "package/first", large);
      member(out, "package/second", "second".getBytes(StandardCharsets.US_ASCII));
      out.write(new byte[1_024]);
    }
    return archive;
  }

  @Test
  void aMemberIsReadToItsEndAndNoFurther() throws IOException {
    try (InputStream in = TarGz.open(archive(), "package/second")) {
      assertThat(new String(in.readAllBytes(), StandardCharsets.US_ASCII)).isEqualTo("second");
    }
    try (InputStream in = TarGz.open(archive(), "package/first")) {
      assertThat(in.read()).isEqualTo('x');
      assertThat(in.readAllBytes()).hasSize(1_299);
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @Test
  void aMissingMemberIsNamed() {
    assertThatThrownBy(() -> TarGz.open(archive(), "package/third"))
        .hasMessageContaining("a.tgz has no package/third");
  }
}
