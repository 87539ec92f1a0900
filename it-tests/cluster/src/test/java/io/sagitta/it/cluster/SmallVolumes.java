// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** File systems in memory, of a size that a test can fill. Making one needs root. */
final class SmallVolumes implements AutoCloseable {
  private static final String BALLAST = "ballast";
  private static final int BUFFER = 1 << 20;

  private final List<Path> mounted = new ArrayList<>();

  /** Whether this process may mount. */
  static boolean possible() {
    return System.getProperty("user.name").equals("root");
  }

  /** Mounts a new volume at a folder, which is made. */
  Path mount(Path folder, int mebibytes) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "sagitta-test", folder.toString());
    mounted.add(folder);
    return folder;
  }

  /** Makes a volume larger, or smaller. */
  void resize(Path folder, int mebibytes) {
    run("mount", "-o", "remount,size=" + mebibytes + "m", folder.toString());
  }

  /** Fills a volume with a file of somebody else's until so much is free, if more is. */
  void fill(Path folder, long freeBytes) throws IOException {
    try (OutputStream out =
        Files.newOutputStream(
            folder.resolve(BALLAST), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      byte[] zeros = new byte[BUFFER];
      for (long over = free(folder) - freeBytes; over > 0; over = free(folder) - freeBytes) {
        out.write(zeros, 0, (int) Math.min(over, BUFFER));
      }
    }
  }

  /** Takes the file away again, if it is there. */
  void empty(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(BALLAST));
  }

  static long free(Path folder) throws IOException {
    FileStore store = Files.getFileStore(folder);
    return store.getUsableSpace();
  }

  private static void run(String... words) {
    try {
      Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).as(String.join(" ", words) + ": " + said).isZero();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Unmounts what was mounted here, exactly there. */
  @Override
  public void close() {
    for (Path folder : mounted.reversed()) {
      run("umount", "--no-canonicalize", folder.toString());
    }
  }
}
