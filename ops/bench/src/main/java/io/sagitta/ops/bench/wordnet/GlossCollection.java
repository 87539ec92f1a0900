// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

import io.sagitta.ops.bench.CacheFolder;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/**
 * Glosses and their vectors, row for row.
 *
 * <p>Cache file, big-endian: magic {@code int64}; key {@code UTF}, which names model and
 * categories; rows {@code int32}; per row the id {@code int64} and 384 {@code float32}; CRC32C of
 * all before, {@code int64}.
 *
 * <p>While it is made, an {@link EmbeddingJournal} beside it keeps what is embedded.
 *
 * @param glosses in id order
 * @param vectors one of 384 components each
 * @param embedSeconds what embedding took; 0 where the cache had them
 */
public record GlossCollection(List<Gloss> glosses, float[][] vectors, double embedSeconds) {
  private static final long MAGIC = 0x5341474754474C31L;

  /** Reads the categories' glosses and embeds them, or takes their vectors from the cache. */
  public static GlossCollection load(Set<String> categories, PrintStream progressOut)
      throws IOException, InterruptedException {
    List<Gloss> glosses = WordNet.read(categories);
    String key = GlossEmbedder.MODEL + " wordnet-3.1 " + new TreeSet<>(categories);
    Path cache =
        CacheFolder.path()
            .resolve("glosses-" + Integer.toHexString(key.hashCode()) + "-" + glosses.size());
    Optional<float[][]> cached = readCache(cache, key, glosses, progressOut);
    if (cached.isPresent()) {
      return new GlossCollection(glosses, cached.get(), 0);
    }
    long start = System.nanoTime();
    float[][] vectors =
        TextVectors.embed(
            cache.resolveSibling(cache.getFileName() + ".part"),
            key,
            glosses.stream().map(Gloss::gloss).toList(),
            progressOut,
            made -> writeCache(cache, key, glosses, made));
    return new GlossCollection(glosses, vectors, (System.nanoTime() - start) / 1e9);
  }

  private static Optional<float[][]> readCache(
      Path file, String key, List<Gloss> glosses, PrintStream log) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    CRC32C checksum = new CRC32C();
    try (DataInputStream in =
        new DataInputStream(
            new CheckedInputStream(
                new BufferedInputStream(Files.newInputStream(file), 1 << 16), checksum))) {
      if (in.readLong() != MAGIC || !in.readUTF().equals(key) || in.readInt() != glosses.size()) {
        return Optional.empty();
      }
      float[][] vectors = new float[glosses.size()][GlossEmbedder.DIMENSION];
      for (int row = 0; row < vectors.length; row++) {
        if (in.readLong() != glosses.get(row).id()) {
          return Optional.empty();
        }
        for (int d = 0; d < GlossEmbedder.DIMENSION; d++) {
          vectors[row][d] = in.readFloat();
        }
      }
      long computed = checksum.getValue();
      return in.readLong() == computed ? Optional.of(vectors) : Optional.empty();
    } catch (IOException e) {
      log.println("cache " + file + " cannot be read (" + e.getMessage() + "), embedding anew");
      return Optional.empty();
    }
  }

  private static void writeCache(Path file, String key, List<Gloss> glosses, float[][] vectors)
      throws IOException {
    Files.createDirectories(file.getParent());
    Path temporary = Files.createTempFile(file.getParent(), "glosses", ".tmp");
    CRC32C checksum = new CRC32C();
    try (DataOutputStream out =
        new DataOutputStream(
            new CheckedOutputStream(
                new BufferedOutputStream(Files.newOutputStream(temporary), 1 << 16), checksum))) {
      out.writeLong(MAGIC);
      out.writeUTF(key);
      out.writeInt(glosses.size());
      for (int row = 0; row < vectors.length; row++) {
        out.writeLong(glosses.get(row).id());
        for (float component : vectors[row]) {
          out.writeFloat(component);
        }
      }
      out.flush();
      out.writeLong(checksum.getValue());
    }
    Files.move(
        temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GlossCollection that
        && glosses.equals(that.glosses)
        && Arrays.deepEquals(vectors, that.vectors);
  }

  @Override
  public int hashCode() {
    return glosses.hashCode();
  }
}
