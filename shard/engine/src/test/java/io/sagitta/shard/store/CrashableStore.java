// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/**
 * A store in memory that knows what is durable. Whatever was not asked to be may be lost at a power
 * cut, each block and each change of a name on its own, as no sane file system promises otherwise;
 * what was synced stays.
 *
 * <p>Every operation that changes something is counted, so that a test can cut the power at each:
 * run once, read {@link #operations}, then for each n run again with {@link #cutPowerAt}. After a
 * cut the store throws {@link PowerCut} for ever, and {@link #afterPowerCut} gives the store that
 * the next start finds.
 *
 * <pre>
 * for (int n = 0; n &lt; total; n++) {
 *   CrashableStore store = new CrashableStore();
 *   store.cutPowerAt(n);
 *   try { work(store); } catch (PowerCut e) { }
 *   recover(store.afterPowerCut(seed + n));
 * }
 * </pre>
 */
public final class CrashableStore implements FileStore {
  /** Whatever the seed, cuts are kind, cruel or mixed. */
  private static final double[] CHANCES_TO_KEEP = {0, 0.5, 0.9, 1};

  private static final int NEVER = -1;

  private final Map<String, CrashableFile> seen = new TreeMap<>();
  private final Set<String> seenDirectories = new TreeSet<>();
  private final Map<String, CrashableFile> disk = new TreeMap<>();
  private final Set<String> diskDirectories = new TreeSet<>();
  private final List<Pending> pending = new ArrayList<>();
  private int operations;
  private int cutAt = NEVER;
  private boolean dark;
  private int failAt = NEVER;
  private boolean failsFromThere;

  /** A change of a directory and the directories that have not been synced since. */
  private record Pending(DirectoryChange change, Set<String> unsynced) {}

  /** An empty store. */
  public CrashableStore() {
    seenDirectories.add("");
    diskDirectories.add("");
  }

  /** Operations so far that change something: writes, syncs, and changes of names. */
  public synchronized int operations() {
    return operations;
  }

  /** The operation with this number, from 0, is not done, nor any after it. */
  public synchronized void cutPowerAt(int operation) {
    cutAt = operation;
  }

  /**
   * The operation with this number fails with an {@link IOException}. A sync that fails leaves the
   * bytes unwritten for good, although later syncs of the file succeed.
   */
  public synchronized void failAt(int operation) {
    failAt = operation;
    failsFromThere = false;
  }

  /** Like a disk that is full: from this operation on, everything but deletes fails. */
  public synchronized void failFrom(int operation) {
    failAt = operation;
    failsFromThere = true;
  }

  /** Whether the power was cut. */
  public synchronized boolean isDark() {
    return dark;
  }

  /** What is on disk if the power is cut now; this store is dark from here on. */
  public synchronized CrashableStore afterPowerCut(long seed) {
    dark = true;
    RandomGenerator random = new SplittableRandom(seed);
    double keep = CHANCES_TO_KEEP[random.nextInt(CHANCES_TO_KEEP.length)];
    Map<String, CrashableFile> files = new TreeMap<>(disk);
    Set<String> directories = new TreeSet<>(diskDirectories);
    for (Pending change : pending) {
      if (random.nextDouble() < keep) {
        change.change.applyTo(files, directories);
      }
    }
    CrashableStore next = new CrashableStore();
    next.seenDirectories.addAll(directories);
    next.diskDirectories.addAll(directories);
    files.forEach(
        (name, file) -> {
          if (directories.contains(FileNames.directory(name))) {
            CrashableFile left = file.afterPowerCut(random, keep);
            next.seen.put(name, left);
            next.disk.put(name, left);
          }
        });
    return next;
  }

  /** A store with the same files, all durable, that shares nothing with this one. */
  public synchronized CrashableStore copy() {
    CrashableStore copy = new CrashableStore();
    copy.seenDirectories.addAll(seenDirectories);
    copy.diskDirectories.addAll(seenDirectories);
    seen.forEach(
        (name, file) -> {
          CrashableFile same = new CrashableFile();
          same.append(file.bytes());
          same.sync();
          copy.seen.put(name, same);
          copy.disk.put(name, same);
        });
    return copy;
  }

  @Override
  public synchronized FileOutput create(String name) throws IOException {
    FileNames.check(name);
    operation("create " + name);
    checkDirectory(name);
    if (seen.containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    CrashableFile file = new CrashableFile();
    seen.put(name, file);
    change(new DirectoryChange.Created(name, file));
    return new Output(name, file);
  }

  @Override
  public synchronized FileOutput append(String name) throws IOException {
    return new Output(name, file(name));
  }

  @Override
  public synchronized void read(String name, long offset, ByteBuffer into) throws IOException {
    byte[] bytes = file(name).bytes();
    if (offset < bytes.length) {
      into.put(bytes, (int) offset, (int) Math.min(into.remaining(), bytes.length - offset));
    }
  }

  @Override
  public synchronized MemorySegment map(String name, Arena arena) throws IOException {
    byte[] bytes = file(name).bytes();
    // As a mapping does, begin at a page.
    MemorySegment mapped = arena.allocate(Math.max(1, bytes.length), 4_096);
    return mapped.asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes)).asReadOnly();
  }

  @Override
  public synchronized long length(String name) throws IOException {
    return file(name).length();
  }

  @Override
  public synchronized boolean exists(String name) {
    checkPower();
    return seen.containsKey(FileNames.check(name));
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    FileNames.check(to);
    CrashableFile file = file(from);
    operation("rename " + from + " to " + to);
    checkDirectory(to);
    seen.remove(from);
    seen.put(to, file);
    change(new DirectoryChange.Renamed(from, to, file));
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    CrashableFile file = file(name);
    if (failsFromThere) {
      count();
    } else {
      operation("delete " + name);
    }
    seen.remove(name);
    change(new DirectoryChange.Deleted(name, file));
  }

  @Override
  public synchronized List<String> list(String directory) throws IOException {
    checkPower();
    if (!seenDirectories.contains(FileNames.checkDirectory(directory))) {
      throw new NoSuchFileException(directory);
    }
    return seen.keySet().stream()
        .filter(name -> FileNames.directory(name).equals(directory))
        .toList();
  }

  @Override
  public synchronized void createDirectory(String directory) throws IOException {
    if (!seenDirectories.contains(FileNames.checkDirectory(directory))) {
      operation("create directory " + directory);
      seenDirectories.add(directory);
      change(new DirectoryChange.DirectoryMade(directory));
    }
  }

  @Override
  public synchronized void syncDirectory(String directory) throws IOException {
    operation("sync directory " + directory);
    Iterator<Pending> changes = pending.iterator();
    while (changes.hasNext()) {
      Pending next = changes.next();
      next.unsynced.remove(directory);
      if (next.unsynced.isEmpty()) {
        next.change.applyTo(disk, diskDirectories);
        changes.remove();
      }
    }
  }

  @Override
  public String toString() {
    return "memory";
  }

  private CrashableFile file(String name) throws NoSuchFileException {
    checkPower();
    CrashableFile file = seen.get(FileNames.check(name));
    if (file == null) {
      throw new NoSuchFileException(name);
    }
    return file;
  }

  private void checkDirectory(String name) throws NoSuchFileException {
    if (!seenDirectories.contains(FileNames.directory(name))) {
      throw new NoSuchFileException(FileNames.directory(name));
    }
  }

  private void change(DirectoryChange change) {
    pending.add(new Pending(change, new HashSet<>(change.directories())));
  }

  private void checkPower() {
    if (dark) {
      throw new PowerCut(operations);
    }
  }

  /** Counts an operation; false when it is the one to fail. */
  private boolean count() {
    checkPower();
    if (operations == cutAt) {
      dark = true;
      throw new PowerCut(operations);
    }
    boolean fails = failsFromThere ? operations >= failAt : operations == failAt;
    operations++;
    return !fails || failAt == NEVER;
  }

  private void operation(String what) throws IOException {
    if (!count()) {
      throw new IOException("injected failure: " + what);
    }
  }

  private final class Output implements FileOutput {
    private final String name;
    private final CrashableFile file;

    Output(String name, CrashableFile file) {
      this.name = name;
      this.file = file;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      synchronized (CrashableStore.this) {
        operation("write " + name);
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        file.append(copy);
      }
    }

    @Override
    public long length() {
      synchronized (CrashableStore.this) {
        return file.length();
      }
    }

    @Override
    public void sync() throws IOException {
      synchronized (CrashableStore.this) {
        if (!count()) {
          file.failSync();
          throw new IOException("injected failure: sync " + name);
        }
        file.sync();
      }
    }

    @Override
    public void close() {}
  }
}
