// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.CacheFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * Rows to index and vectors to draw queries from, kept in the cache folder. All vectors have unit
 * length, so that cosine, inner product and Euclidean distance order alike and every contender may
 * use what it is fastest at.
 *
 * @param base rows that are indexed
 * @param heldOut rows of the same source that no index sees
 * @param foreign queries from another distribution than the rows
 * @param checksum of the base rows: names truths and indexes made from them
 */
public record DataSet(
    String name, VectorFile base, VectorFile heldOut, VectorFile foreign, String checksum) {

  /** Makes the vectors of a data set; slow, so once. */
  interface Source {
    /** Name of the set in the cache; a new name when what is made changes. */
    String name();

    int dimension();

    /** Writes the three files. */
    void write(Outputs files, PrintStream log) throws IOException, InterruptedException;
  }

  /** The files of a set while it is made. */
  record Outputs(VectorFile.Writer base, VectorFile.Writer heldOut, VectorFile.Writer foreign) {}

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Where everything of this command is kept. */
  static Path folder() {
    return CacheFolder.path().resolve("engine");
  }

  /** The set from the cache, or made now. */
  static DataSet load(Source source, PrintStream log) throws IOException, InterruptedException {
    Path folder = folder().resolve("data").resolve(source.name());
    Optional<DataSet> cached = cached(source, folder, log);
    return cached.isPresent() ? cached.get() : make(source, folder, log);
  }

  private static Optional<DataSet> cached(Source source, Path folder, PrintStream log) {
    if (!Files.exists(folder)) {
      return Optional.empty();
    }
    try {
      JsonNode about = JSON.readTree(folder.resolve("data.json").toFile());
      DataSet set = of(source, folder);
      for (VectorFile file : new VectorFile[] {set.base, set.heldOut, set.foreign}) {
        String name = file.path().getFileName().toString();
        String expected = about.path(name).asText();
        String found = checksum(file.path());
        if (!expected.equals(found)) {
          log.println(file.path() + ": checksum " + found + ", expected " + expected);
          return Optional.empty();
        }
      }
      return Optional.of(set);
    } catch (IOException e) {
      log.println(folder + " cannot be read (" + e.getMessage() + "), making it anew");
      return Optional.empty();
    }
  }

  private static DataSet make(Source source, Path folder, PrintStream log)
      throws IOException, InterruptedException {
    log.println("making the data set " + source.name());
    Files.createDirectories(folder.getParent());
    Path temporary = Files.createTempDirectory(folder.getParent(), source.name() + ".");
    try (VectorFile.Writer base = writer(temporary, "base.f32", source);
        VectorFile.Writer heldOut = writer(temporary, "held-out.f32", source);
        VectorFile.Writer foreign = writer(temporary, "foreign.f32", source)) {
      source.write(new Outputs(base, heldOut, foreign), log);
    }
    ObjectNode about = JSON.createObjectNode();
    for (String name : new String[] {"base.f32", "held-out.f32", "foreign.f32"}) {
      about.put(name, checksum(temporary.resolve(name)));
    }
    JSON.writeValue(temporary.resolve("data.json").toFile(), about);
    deleteTree(folder);
    Files.move(temporary, folder, StandardCopyOption.ATOMIC_MOVE);
    return of(source, folder);
  }

  private static VectorFile.Writer writer(Path folder, String name, Source source)
      throws IOException {
    return new VectorFile.Writer(folder.resolve(name), source.dimension());
  }

  private static DataSet of(Source source, Path folder) throws IOException {
    int dimension = source.dimension();
    return new DataSet(
        source.name(),
        VectorFile.of(folder.resolve("base.f32"), dimension),
        VectorFile.of(folder.resolve("held-out.f32"), dimension),
        VectorFile.of(folder.resolve("foreign.f32"), dimension),
        checksum(folder.resolve("base.f32")));
  }

  /** The first rows only, in a file of {@code folder}; the queries stay. */
  DataSet shrunkTo(int rows, Path folder) throws IOException {
    Path file = folder.resolve(name + "-" + rows + ".f32");
    try (Arena arena = Arena.ofConfined();
        VectorFile.Writer out = new VectorFile.Writer(file, base.dimension())) {
      MemorySegment mapped = base.map(arena);
      for (int row = 0; row < rows; row++) {
        out.add(base.row(mapped, row));
      }
      VectorFile first = out.finish();
      return new DataSet(name + ", " + rows + " rows", first, heldOut, foreign, checksum(file));
    }
  }

  /** CRC32C of a file, eight hexadecimal digits. */
  static String checksum(Path file) throws IOException {
    CRC32C checksum = new CRC32C();
    byte[] buffer = new byte[1 << 20];
    try (InputStream in = Files.newInputStream(file)) {
      for (int read; (read = in.read(buffer)) >= 0; ) {
        checksum.update(buffer, 0, read);
      }
    }
    return HexFormat.of().toHexDigits((int) checksum.getValue());
  }

  /** Removes a folder and all in it, if it is there. */
  static void deleteTree(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }
}
