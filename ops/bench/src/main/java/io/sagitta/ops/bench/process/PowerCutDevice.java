// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A disk with a volatile write-back cache, for which a power cut can be played: what was not
 * flushed is gone, what was flushed is there, and the whole real stack of file system and page
 * cache stands above it.
 *
 * <pre>
 *   ext4 - loop device - nbdfuse - (socket) - nbdkit --filter=cache - disk.img
 * </pre>
 *
 * <p>nbdkit's cache filter keeps writes in memory of its own until a flush, which is what an fsync
 * on the file system becomes; kill -9 of nbdkit is the power cut. Only root can make one.
 *
 * <p>With {@link Cache#LYING} the disk acknowledges flushes and does nothing, as a program does
 * that leaves fsync out: a test that does not notice is worth nothing.
 */
public final class PowerCutDevice implements AutoCloseable {
  private static final long DISK_BYTES = 2L << 30;
  private static final Duration STEP = Duration.ofSeconds(20);
  private static final List<String> TOOLS =
      List.of("nbdkit", "nbdfuse", "losetup", "mkfs.ext4", "mount", "umount");

  /** What the disk does with writes. */
  public enum Cache {
    /** Keeps them until it is told to flush. */
    WRITE_BACK("writeback"),
    /** Ignores flushes. */
    LYING("unsafe");

    private final String option;

    Cache(String option) {
      this.option = option;
    }
  }

  private final Path folder;
  private final Path mountPoint;
  private final Path fusePoint;
  private final OwnMounts mounts = new OwnMounts(words -> run(words.toArray(String[]::new)));
  private Cache cache = Cache.WRITE_BACK;
  private Process disk;
  private Process fuse;
  private String loop = "";
  private final Thread hook = new Thread(this::detachQuietly, "disk-cleanup");

  private PowerCutDevice(Path folder) {
    this.folder = folder;
    this.mountPoint = folder.resolve("mnt");
    this.fusePoint = folder.resolve("fuse");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Why a power cut cannot be played here, in words that say what to do; empty where it can. */
  public static Optional<String> missing() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return Optional.of("power cuts are played with Linux's loop devices and FUSE");
    }
    List<String> absent = TOOLS.stream().filter(tool -> !onPath(tool)).toList();
    if (!absent.isEmpty()) {
      return Optional.of(
          "missing "
              + String.join(", ", absent)
              + "; on Debian: apt-get install nbdkit libnbd-bin e2fsprogs mount");
    }
    if (!Files.isWritable(Path.of("/dev/fuse")) || !Files.exists(Path.of("/dev/loop-control"))) {
      return Optional.of(
          "run it as root on a machine with /dev/fuse and loop devices (a container needs"
              + " --privileged)");
    }
    return Optional.empty();
  }

  private static boolean onPath(String tool) {
    for (String folder : (System.getenv("PATH") + ":/usr/sbin:/sbin").split(":")) {
      if (Files.isExecutable(Path.of(folder, tool))) {
        return true;
      }
    }
    return false;
  }

  /** Makes a disk with an empty file system, mounted. */
  public static PowerCutDevice create(Path folder) throws InterruptedException {
    PowerCutDevice device;
    try {
      Files.createDirectories(folder);
      // As the kernel names it, or its mounts would not be found in the kernel's table.
      device = new PowerCutDevice(folder.toRealPath());
    } catch (IOException e) {
      throw new UncheckedIOException("no disk in " + folder, e);
    }
    try {
      Files.createDirectories(device.mountPoint);
      Files.createDirectories(device.fusePoint);
      try (RandomAccessFile image =
          new RandomAccessFile(folder.resolve("disk.img").toFile(), "rw")) {
        image.setLength(DISK_BYTES);
      }
      device.attach();
      device.run("mkfs.ext4", "-q", "-F", "-E", "nodiscard", device.loop);
      device.mount();
      return device;
    } catch (IOException e) {
      device.close();
      throw new UncheckedIOException("no disk in " + folder, e);
    } catch (RuntimeException | InterruptedException e) {
      device.close();
      throw e;
    }
  }

  /** Where its file system is mounted. */
  public Path mountPoint() {
    return mountPoint;
  }

  /** The power goes. Whoever has files open on it loses them; {@link #powerOn} brings it back. */
  public void cut() throws InterruptedException {
    disk.destroyForcibly();
    disk.waitFor();
    detach();
  }

  /** Takes the power from several disks at one moment; each is then {@link #cut}. */
  public static void failAll(List<PowerCutDevice> devices) {
    devices.forEach(device -> device.disk.destroyForcibly());
  }

  /** Starts the disk again with what it has, and mounts its file system. */
  public void powerOn(Cache behaviour) throws InterruptedException {
    cache = behaviour;
    attach();
    mount();
  }

  /** Unmounts in good order and starts again with another behaviour. */
  public void remount(Cache behaviour) throws InterruptedException {
    mounts.unmount(mountPoint, false);
    detachLoop();
    endFuse();
    disk.destroy();
    if (!disk.waitFor(STEP.toSeconds(), TimeUnit.SECONDS)) {
      throw new ClusterException("nbdkit does not end");
    }
    powerOn(behaviour);
  }

  private void attach() throws InterruptedException {
    Path socket = folder.resolve("disk.sock");
    try {
      Files.deleteIfExists(socket);
      disk =
          start(
              "nbdkit",
              List.of(
                  "nbdkit",
                  "-f",
                  "-U",
                  socket.toString(),
                  "--filter=cache",
                  "file",
                  folder.resolve("disk.img").toString(),
                  "cache=" + cache.option));
      await(() -> Files.exists(socket), "nbdkit's socket");
      Path file = fusePoint.resolve("nbd");
      fuse = start("nbdfuse", List.of("nbdfuse", file.toString(), "--unix", socket.toString()));
      await(() -> Files.exists(file), "nbdfuse's file");
      mounts.enter(fusePoint);
      loop = run("losetup", "--find", "--show", file.toString()).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("the disk of " + folder + " does not start", e);
    }
  }

  private void mount() throws InterruptedException {
    run("mount", "-t", "ext4", loop, mountPoint.toString());
    mounts.enter(mountPoint);
  }

  /** After a cut nothing here can be done in good order. */
  private void detach() throws InterruptedException {
    mounts.unmount(mountPoint, true);
    detachLoop();
    endFuse();
  }

  /** Only while it still is our disk's: a number that was given back may be somebody else's now. */
  private void detachLoop() throws InterruptedException {
    if (!loop.isEmpty()) {
      if (isOurs(loop)) {
        run("losetup", "--detach", loop);
      }
      loop = "";
    }
  }

  private boolean isOurs(String device) {
    Path backing =
        Path.of("/sys/block", Path.of(device).getFileName().toString(), "loop/backing_file");
    try {
      return Files.readString(backing).strip().startsWith(fusePoint.resolve("nbd").toString());
    } catch (IOException e) {
      return false; // it is not attached to anything
    }
  }

  private void endFuse() throws InterruptedException {
    if (fuse != null && fuse.isAlive()) {
      fuse.destroy();
      if (!fuse.waitFor(2, TimeUnit.SECONDS)) {
        fuse.destroyForcibly();
        fuse.waitFor();
      }
    }
    // A server that was killed leaves its mount point behind.
    mounts.unmount(fusePoint, true);
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the JVM is ending: the hook does it
    }
    detachQuietly();
  }

  private void detachQuietly() {
    try {
      if (disk != null && disk.isAlive()) {
        disk.destroyForcibly();
        disk.waitFor();
      }
      detach();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Process start(String name, List<String> command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve(name + ".log").toFile()))
        .start();
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(Condition condition, String what) throws InterruptedException {
    long deadline = System.nanoTime() + STEP.toNanos();
    while (!condition.holds()) {
      if (System.nanoTime() > deadline) {
        throw new ClusterException(what + " does not appear");
      }
      Thread.sleep(5);
    }
  }

  private String run(String... command) throws InterruptedException {
    Result result = tryRun(command);
    if (result.code() != 0) {
      throw new ClusterException(String.join(" ", command) + ": " + result.output().strip());
    }
    return result.output();
  }

  private record Result(int code, String output) {}

  private static Result tryRun(String... command) throws InterruptedException {
    List<String> words = new ArrayList<>(List.of(command));
    try {
      ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
      builder.environment().merge("PATH", "/usr/sbin:/sbin", (path, more) -> path + ":" + more);
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(String.join(" ", words), e);
    }
  }
}
