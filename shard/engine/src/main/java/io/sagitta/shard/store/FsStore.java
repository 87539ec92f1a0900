// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A directory of the local file system. Links are not followed. */
public final class FsStore implements FileStore {
  private final Path root;

  private FsStore(Path root) {
    this.root = root;
  }

  /** The store in a directory, which is made, durably, unless it is there. */
  public static FsStore open(Path directory) throws IOException {
    Path root = directory.toAbsolutePath().normalize();
    Path existing = root;
    while (!Files.isDirectory(existing)) {
      existing = existing.getParent();
    }
    Files.createDirectories(root);
    for (Path made = root; !made.equals(existing); made = made.getParent()) {
      sync(made.getParent());
    }
    return new FsStore(root);
  }

  @Override
  public FileOutput create(String name) throws IOException {
    return new Output(
        FileChannel.open(
            path(name),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS),
        0);
  }

  @Override
  public FileOutput append(String name) throws IOException {
    FileChannel channel =
        FileChannel.open(path(name), StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    long length = channel.size();
    channel.position(length);
    return new Output(channel, length);
  }

  @Override
  public void read(String name, long offset, ByteBuffer into) throws IOException {
    try (FileChannel channel = openForRead(name)) {
      long at = offset;
      while (into.hasRemaining()) {
        int read = channel.read(into, at);
        if (read < 0) {
          return;
        }
        at += read;
      }
    }
  }

  @Override
  public MemorySegment map(String name, Arena arena) throws IOException {
    try (FileChannel channel = openForRead(name)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    }
  }

  @Override
  public long length(String name) throws IOException {
    return Files.size(path(name));
  }

  @Override
  public boolean exists(String name) {
    return Files.isRegularFile(path(name), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.delete(path(name));
  }

  @Override
  public List<String> list(String directory) throws IOException {
    String prefix = directory.isEmpty() ? "" : directory + "/";
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directoryPath(directory))) {
      for (Path entry : entries) {
        String name = prefix + entry.getFileName();
        if (FileNames.isValid(name) && Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS)) {
          names.add(name);
        }
      }
    }
    Collections.sort(names);
    return names;
  }

  @Override
  public void createDirectory(String directory) throws IOException {
    Files.createDirectories(directoryPath(directory));
  }

  @Override
  public void syncDirectory(String directory) throws IOException {
    sync(directoryPath(directory));
  }

  @Override
  public String toString() {
    return root.toString();
  }

  private FileChannel openForRead(String name) throws IOException {
    return FileChannel.open(path(name), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  }

  private Path path(String name) {
    return root.resolve(FileNames.check(name));
  }

  private Path directoryPath(String directory) {
    return root.resolve(FileNames.checkDirectory(directory));
  }

  private static void sync(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static final class Output implements FileOutput {
    private final FileChannel channel;
    private long length;

    Output(FileChannel channel, long length) {
      this.channel = channel;
      this.length = length;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        length += channel.write(bytes);
      }
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public void sync() throws IOException {
      channel.force(true);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
