// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * A control group of the kernel, version 1 or 2, that bounds the memory of what runs in it: pages
 * of its own and the page cache of the files that it reads and writes alike. Beyond the limit the
 * cache is given up first; where that is not enough a process is killed. Making one needs root.
 */
public final class MemoryGroup implements AutoCloseable {
  private static final Path HIERARCHIES = Path.of("/sys/fs/cgroup");

  /** A group whose last process has just ended may be busy for a moment. */
  private static final int REMOVALS = 100;

  private static final long REMOVAL_PAUSE_MS = 20;

  /** What the two versions call the same. */
  private enum Version {
    ONE("memory.limit_in_bytes", "-1", "memory.max_usage_in_bytes", "memory.oom_control"),
    TWO("memory.max", "max", "memory.peak", "memory.events");

    private final String limit;
    private final String unlimited;
    private final String peak;
    private final String events;

    Version(String limit, String unlimited, String peak, String events) {
      this.limit = limit;
      this.unlimited = unlimited;
      this.peak = peak;
      this.events = events;
    }
  }

  private final Version version;
  private final Path folder;

  private MemoryGroup(Version version, Path folder) {
    this.version = version;
    this.folder = folder;
  }

  /** Why no group can be made here; empty where one can. */
  public static Optional<String> impossible() {
    try (MemoryGroup probe = create("sagitta-probe-" + ProcessHandle.current().pid(), 1L << 30)) {
      return Optional.empty();
    } catch (ClusterException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * Makes a group.
   *
   * @param name of no group there is
   * @throws ClusterException where the system does not let this process make one
   */
  public static MemoryGroup create(String name, long limitBytes) {
    try {
      Path one = HIERARCHIES.resolve("memory");
      MemoryGroup group =
          Files.exists(one.resolve("cgroup.procs"))
              ? new MemoryGroup(Version.ONE, own(one, "memory").resolve(name))
              : new MemoryGroup(Version.TWO, delegating(HIERARCHIES).resolve(name));
      Files.createDirectory(group.folder);
      try {
        group.limit(limitBytes);
      } catch (IOException e) {
        group.close();
        throw e;
      }
      return group;
    } catch (IOException | UncheckedIOException e) {
      throw new ClusterException("no control group for memory can be made: " + e, e);
    }
  }

  /** This process' group, so that limits around it go on to hold; the top where it is not seen. */
  private static Path own(Path hierarchy, String controller) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
      String[] parts = line.split(":", 3); // number, controllers, path
      if (List.of(parts[1].split(",")).contains(controller)) {
        Path own = hierarchy.resolve(parts[2].substring(1));
        return Files.isDirectory(own) ? own : hierarchy;
      }
    }
    return hierarchy;
  }

  /** A folder below which groups may have limits; in version 2 a group says so to its children. */
  private static Path delegating(Path top) throws IOException {
    if (!Files.readString(top.resolve("cgroup.controllers")).contains("memory")) {
      throw new IOException(top + " has no controller for memory");
    }
    Files.writeString(top.resolve("cgroup.subtree_control"), "+memory", StandardOpenOption.WRITE);
    return top;
  }

  private void limit(long bytes) throws IOException {
    write(version.limit, Long.toString(bytes));
  }

  private void write(String file, String value) throws IOException {
    Files.writeString(folder.resolve(file), value, StandardOpenOption.WRITE);
  }

  /** Takes the limit away. */
  public void unlimit() {
    try {
      write(version.limit, version.unlimited);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A command that enters the group before it becomes another: all of its memory is counted. */
  List<String> entering(List<String> command) {
    List<String> entering = new ArrayList<>();
    entering.addAll(List.of("sh", "-c", "echo $$ > \"$0\" && exec \"$@\""));
    entering.add(folder.resolve("cgroup.procs").toString());
    entering.addAll(command);
    return entering;
  }

  /** The most that was in use at a time, page cache included; empty where the kernel is too old. */
  public OptionalLong peakBytes() {
    try {
      return OptionalLong.of(
          Long.parseLong(Files.readString(folder.resolve(version.peak)).strip()));
    } catch (NoSuchFileException e) {
      return OptionalLong.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How many processes the kernel has killed for want of memory. */
  public long killed() {
    try (Stream<String> lines = Files.lines(folder.resolve(version.events))) {
      return lines
          .filter(line -> line.startsWith("oom_kill "))
          .mapToLong(line -> Long.parseLong(line.substring("oom_kill ".length())))
          .findFirst()
          .orElseThrow(() -> new ClusterException("the kernel does not count its kills"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes the group, whose processes have ended. */
  @Override
  public void close() {
    for (int attempt = 1; ; attempt++) {
      try {
        Files.deleteIfExists(folder);
        return;
      } catch (IOException e) {
        if (attempt == REMOVALS) {
          throw new ClusterException("the control group " + folder + " stays: " + e, e);
        }
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(REMOVAL_PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
