// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.shard.distance.HugePages;
import io.sagitta.shard.hnsw.IndexImage;
import io.sagitta.shard.hnsw.IndexParameters;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * An index as plain files for the length of a benchmark: one a region, and the few numbers beside.
 * Built in one process, it is searched in another, which then starts as cold as a node does. Its
 * memory is what a node has that built the graph: huge pages, where the system gives them.
 */
final class IndexFolder {
  private static final int WRITTEN_AT_ONCE = 1 << 24;

  private final Path folder;

  IndexFolder(Path folder) {
    this.folder = folder;
  }

  void write(IndexImage image) throws IOException {
    write("high", image.high());
    if (image.low() != null) {
      write("low", image.low());
    }
    write("links", image.links());
    write("levels", image.levels());
    write("upper", image.upper());
    if (image.neighbours() != null) {
      write("neighbours", image.neighbours().codes());
    }
    try (DataOutputStream out =
        new DataOutputStream(Files.newOutputStream(folder.resolve("numbers")))) {
      out.writeInt(image.size());
      out.writeInt(image.entry());
      out.writeInt(image.entryLevel());
      out.writeInt(image.upperBlocks());
      for (float component : image.centre()) {
        out.writeFloat(component);
      }
      if (image.neighbours() != null) {
        out.writeFloat(image.neighbours().deviation());
        out.writeInt(image.neighbours().codebook().length);
        for (float value : image.neighbours().codebook()) {
          out.writeFloat(value);
        }
      }
    }
  }

  /** The image in memory of the arena. */
  IndexImage read(IndexParameters parameters, Arena arena) throws IOException {
    try (DataInputStream in =
        new DataInputStream(Files.newInputStream(folder.resolve("numbers")))) {
      int size = in.readInt();
      int entry = in.readInt();
      int entryLevel = in.readInt();
      int upperBlocks = in.readInt();
      float[] centre = new float[parameters.dimension()];
      for (int d = 0; d < centre.length; d++) {
        centre[d] = in.readFloat();
      }
      return new IndexImage(
          parameters,
          centre,
          size,
          entry,
          entryLevel,
          upperBlocks,
          read("high", arena),
          Files.exists(folder.resolve("low")) ? read("low", arena) : null,
          read("links", arena),
          read("levels", arena),
          read("upper", arena),
          Files.exists(folder.resolve("neighbours")) ? neighbours(in, arena) : null);
    }
  }

  private IndexImage.Neighbours neighbours(DataInputStream in, Arena arena) throws IOException {
    float deviation = in.readFloat();
    float[] codebook = new float[in.readInt()];
    for (int i = 0; i < codebook.length; i++) {
      codebook[i] = in.readFloat();
    }
    return new IndexImage.Neighbours(read("neighbours", arena), codebook, deviation);
  }

  private void write(String name, MemorySegment region) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            folder.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long at = 0; at < region.byteSize(); at += WRITTEN_AT_ONCE) {
        var bytes =
            region.asSlice(at, Math.min(WRITTEN_AT_ONCE, region.byteSize() - at)).asByteBuffer();
        while (bytes.hasRemaining()) {
          file.write(bytes);
        }
      }
    }
  }

  private MemorySegment read(String name, Arena arena) throws IOException {
    Path path = folder.resolve(name);
    MemorySegment region = HugePages.allocate(Math.max(1, Files.size(path)), arena);
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
        Arena mapping = Arena.ofConfined()) {
      region.copyFrom(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), mapping));
    }
    return region;
  }
}
