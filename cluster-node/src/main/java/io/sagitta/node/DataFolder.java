// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import io.sagitta.model.Reason;
import io.sagitta.model.ShardId;
import io.sagitta.node.service.DiskSpace.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/**
 * A node's data folder, held by a lock while the node lives. No name in it was ever given by a
 * client.
 *
 * <pre>
 * lock             held by the running process; its pid
 * identity         who this is ({@link NodeIdentity})
 * marks            how far each group's log has certainly come
 * cluster-map      last known state of the cluster, so that peers are found again
 * meta/raft        Raft log of the metadata group
 * meta/state       its checkpoint
 * shards/raft      Raft logs of the shard groups
 * shards/&lt;uuid&gt;    one shard's checkpoints and segments
 * log/             log files
 * reserve          space for starts on a full volume ({@link Reserve})
 * </pre>
 */
public final class DataFolder implements AutoCloseable {
  private final Path root;
  private final FileChannel lockFile;
  private final FileLock lock;
  private final Reserve reserve;

  private DataFolder(Path root, FileChannel lockFile, FileLock lock) {
    this.root = root;
    this.lockFile = lockFile;
    this.lock = lock;
    this.reserve =
        new Reserve(
            root.resolve("reserve"),
            List.of(metaRaft().resolve("groups"), shardRaft().resolve("groups")),
            Volume.of(root));
  }

  /** Makes the folder where it is missing, and locks it. */
  public static DataFolder open(Path root) {
    FileChannel file = null;
    try {
      Files.createDirectories(root);
      if (!Files.isWritable(root)) {
        throw new ConfigException("data folder " + root + " cannot be written to");
      }
      file =
          FileChannel.open(
              root.resolve("lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      FileLock lock = tryLock(file);
      if (lock == null) {
        ConfigException refusal = inUse(root, file);
        file.close();
        throw refusal;
      }
      DataFolder folder = new DataFolder(root, file, lock);
      folder.reserve.makeRoom();
      writePid(file);
      Files.createDirectories(root.resolve("meta"));
      Files.createDirectories(root.resolve("shards"));
      SmallFile.syncFolder(root);
      return folder;
    } catch (IOException e) {
      throw new ConfigException("data folder " + root + " cannot be used: " + Reason.of(e), e);
    }
  }

  /**
   * Refuses a folder that a node holds now, and changes nothing in it: for whoever is about to
   * write beside it. One that is free, or not there, may still be taken by the time that {@link
   * #open} looks.
   */
  static void checkFree(Path root) {
    Path path = root.resolve("lock");
    if (!Files.exists(path)) {
      return;
    }
    try (FileChannel file =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (tryLock(file) == null) {
        throw inUse(root, file);
      }
    } catch (IOException e) {
      throw new ConfigException("data folder " + root + " cannot be used: " + Reason.of(e), e);
    }
  }

  private static ConfigException inUse(Path root, FileChannel lockFile) throws IOException {
    String pid = read(lockFile);
    return new ConfigException(
        "data folder " + root + " is in use by process " + (pid.isEmpty() ? "?" : pid));
  }

  private static FileLock tryLock(FileChannel file) throws IOException {
    try {
      return file.tryLock();
    } catch (OverlappingFileLockException e) {
      return null; // by this very process
    }
  }

  /** Over the old one, which is as long: a full volume might not give back what is cut off. */
  private static void writePid(FileChannel file) throws IOException {
    String pid = "%-20d\n".formatted(ProcessHandle.current().pid());
    file.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.UTF_8)), 0);
  }

  private static String read(FileChannel file) throws IOException {
    ByteBuffer text = ByteBuffer.allocate(32);
    file.read(text, 0);
    return StandardCharsets.UTF_8.decode(text.flip()).toString().strip();
  }

  public Path root() {
    return root;
  }

  Reserve reserve() {
    return reserve;
  }

  Path metaRaft() {
    return root.resolve("meta/raft");
  }

  Path metaState() {
    return root.resolve("meta/state");
  }

  Path shardRaft() {
    return root.resolve("shards/raft");
  }

  Path shard(ShardId shard) {
    return root.resolve("shards").resolve(shard.toString());
  }

  Path logs() {
    return root.resolve("log");
  }

  /** Whether Raft has ever run here. */
  boolean hasRaftState() {
    return isNotEmpty(metaRaft()) || isNotEmpty(shardRaft());
  }

  private static boolean isNotEmpty(Path folder) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      return entries.iterator().hasNext();
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes a folder and all in it; nothing where it is not there. Links are not followed. */
  static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  @Override
  public void close() {
    try (FileChannel closing = lockFile) {
      lock.release();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
