// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import io.sagitta.shard.store.FileOutput;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shard's directory: which checkpoint counts, which files may go, how files come from peers and
 * go to them.
 *
 * <p><b>Publishing.</b> The files of a checkpoint are durable before its manifest is written under
 * a temporary name, fsynced, renamed, and the directory fsynced. Only then are files removed that
 * neither the manifest nor a pin names. A crash anywhere leaves either the old or the new manifest,
 * each with all its files.
 *
 * <p><b>Recovery</b> ({@link #open}). The newest manifest whose checksums hold counts. What does
 * not hold is moved to {@code quarantine/} with a reason in the log, not deleted. Files with our
 * names that the manifest does not name are leftovers of an interrupted flush and go, unless a
 * newer manifest was damaged, which may have named them; other files stay untouched. Recovery may
 * itself be interrupted anywhere and be done again.
 *
 * <p><b>Quarantine.</b> What lies there is evidence, and perhaps all that is left of some rows, so
 * it stays as long as its damage lasts. {@link #repaired} closes a case, and what a closed case
 * left goes, each file named in the log, when the next one begins: at most one checkpoint's files
 * lie there besides those of the present case, however often a disk fails.
 *
 * <p><b>Install.</b> Files from a peer arrive as {@code .part}, are verified, fsynced and wait as
 * {@code .staged}, so that they never disturb the current checkpoint, however they are named;
 * {@link #install} gives them their names and publishes. Both survive a restart.
 *
 * <p>Safe for any thread. Publishing and installing are for one thread at a time, and flushes of
 * segments (which write under their final names) must not run while this directory is opened.
 */
public final class CheckpointDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointDirectory.class);

  /** Manifests are small: a hundred bytes a file. */
  private static final long MANIFEST_BYTES_MAX = 64L << 20;

  private final FileStore store;
  private final SoundFiles sound;
  private final Arrivals arrivals;

  // Written under this, read by anyone.
  private volatile Manifest current;
  private volatile List<CheckpointFile> damaged = List.of();

  // Guarded by this:
  private Manifest installing;
  private long generation;
  private final Map<String, Integer> pins = new HashMap<>();

  /** Named by an earlier manifest, to be removed as soon as nothing needs them. */
  private final Set<String> superseded = new HashSet<>();

  /** Named by no manifest that holds; kept, since one that does not hold may have named them. */
  private final Set<String> leftovers = new HashSet<>();

  /** Published in vain: their manifests may be on disk, their files may be tried again. */
  private final List<Manifest> attempted = new ArrayList<>();

  private CheckpointDirectory(FileStore store) {
    this.store = store;
    this.sound = new SoundFiles(store);
    this.arrivals = new Arrivals(store, sound);
  }

  /**
   * Recovers a directory.
   *
   * @throws FormatTooNewException when a later release wrote the newest manifest or a file of it
   */
  public static CheckpointDirectory open(FileStore store) throws IOException {
    CheckpointDirectory directory = new CheckpointDirectory(store);
    directory.recover();
    return directory;
  }

  /** The checkpoint that counts. */
  public Optional<Manifest> current() {
    return Optional.ofNullable(current);
  }

  /**
   * Files of {@link #current} that were found missing or bad at open. The shard must not answer
   * until they have been fetched again: {@link #missing} of the current manifest, {@link
   * #importFile}, {@link #install}.
   */
  public List<CheckpointFile> damaged() {
    return damaged;
  }

  /**
   * Makes a checkpoint the current one, durable on return, then removes files that neither it nor a
   * pin names. Its files are durable already. The generation given is replaced by the next one.
   *
   * @throws IOException when it may or may not have become durable: the checkpoint before stays the
   *     current one, all files stay, and it or a later one may be published again
   */
  public synchronized Manifest publish(Manifest manifest) throws IOException {
    for (CheckpointFile file : manifest.files()) {
      if (!store.exists(file.name()) || store.length(file.name()) != file.length()) {
        throw new IllegalArgumentException("checkpoint names " + file + ", which is not there");
      }
    }
    Manifest published = publishLocked(manifest);
    if (installing == null) {
      arrivals.removeExcept(List.of());
    }
    return published;
  }

  /**
   * Files that a peer's manifest names and that are missing or bad here, by checksums of all their
   * bytes. Begins an install: what was fetched for another one is removed.
   */
  public List<CheckpointFile> missing(Manifest manifest) throws IOException {
    synchronized (this) {
      installing = manifest;
      arrivals.removeExcept(manifest.files());
    }
    List<CheckpointFile> missing = new ArrayList<>();
    for (CheckpointFile file : manifest.files()) {
      if (!sound.isSound(file, file.name()) && !arrivals.isStaged(file)) {
        missing.add(file);
      }
    }
    return missing;
  }

  /**
   * Bytes of a file that an interrupted import has kept: where to go on. They may turn out to be
   * damaged (a power cut), and the import then fails and starts from 0 the next time.
   */
  public long imported(CheckpointFile file) throws IOException {
    return arrivals.kept(file);
  }

  /**
   * Receives a file, or the rest of it. On return it is verified and durable. What arrived before
   * the stream failed is kept; what turns out to be another file than expected is removed.
   *
   * @param offset where {@code bytes} begins in the file: {@link #imported}, or 0 to start again
   * @throws CorruptFileException when length or checksum are not those of the file
   */
  public void importFile(CheckpointFile file, InputStream bytes, long offset) throws IOException {
    if (!ShardFiles.isCheckpointFile(file.name())) {
      throw new IllegalArgumentException("a checkpoint has no file of this name");
    }
    arrivals.receive(file, bytes, offset);
  }

  /**
   * Makes a peer's checkpoint the current one, durable on return; all its files are here ({@link
   * #missing} gives none).
   *
   * @throws IOException as {@link #publish}
   */
  public synchronized Manifest install(Manifest manifest) throws IOException {
    List<CheckpointFile> arrived = new ArrayList<>();
    for (CheckpointFile file : manifest.files()) {
      if (arrivals.isStaged(file)) {
        arrived.add(file);
      } else if (!sound.isSound(file, file.name())) {
        throw new NoSuchFileException(file.name(), null, "not imported before the install");
      }
    }
    for (CheckpointFile file : arrived) {
      arrivals.adopt(file);
    }
    superseded.addAll(leftovers);
    leftovers.clear();
    Manifest published = publishLocked(manifest);
    installing = null;
    arrivals.removeExcept(List.of());
    return published;
  }

  /**
   * Reads a file of the current or a pinned checkpoint from an offset; it stays on disk until the
   * stream is closed. The receiver checks the bytes.
   *
   * @throws NoSuchFileException when no such checkpoint has this very file any more
   */
  public synchronized InputStream exportFile(CheckpointFile file, long offset) throws IOException {
    boolean known = current != null && current.files().contains(file);
    if (!known && !pins.containsKey(file.name())) {
      throw new NoSuchFileException(file.name(), null, "not a file of a checkpoint here");
    }
    long length = store.length(file.name());
    if (length != file.length() || offset < 0 || offset > length) {
      throw new NoSuchFileException(file.name(), null, "has " + length + " bytes here");
    }
    return new StoredBytes(store, file.name(), offset, length, pin(List.of(file)));
  }

  /**
   * Keeps the files of a checkpoint until closed, whatever is published meanwhile.
   *
   * @throws NoSuchFileException when it is neither the current one nor pinned: its files may be
   *     gone
   */
  public synchronized Pin pin(Manifest manifest) throws NoSuchFileException {
    for (CheckpointFile file : manifest.files()) {
      if (!isNamedLocked(file.name())) {
        throw new NoSuchFileException(file.name(), null, "not a file of a checkpoint here");
      }
    }
    return pin(manifest.files());
  }

  /**
   * Compares every byte of the current checkpoint with its checksums: the scrub.
   *
   * @param pace told before each step how many bytes are going to be read; it may wait
   * @return the files that are bad; they are still in place, since views may use their sound parts
   */
  public List<CheckpointFile> verify(IntConsumer pace) throws IOException {
    List<CheckpointFile> files;
    Pin pin;
    synchronized (this) {
      files = current == null ? List.of() : current.files();
      pin = pin(files);
    }
    try (pin) {
      List<CheckpointFile> bad = new ArrayList<>();
      for (CheckpointFile file : files) {
        String problem = FileCheck.problem(store, file.name(), file, pace);
        if (problem != null) {
          LOG.error("{}: {} is damaged: {}", store, file.name(), problem);
          sound.forget(file.name());
          bad.add(file);
        }
      }
      return bad;
    }
  }

  /** What lies in quarantine has been replaced: it stays until the next damage. */
  public synchronized void repaired() throws IOException {
    store.createDirectory(ShardFiles.QUARANTINE);
    if (store.list(ShardFiles.QUARANTINE).isEmpty() || store.exists(ShardFiles.CASE_CLOSED)) {
      return;
    }
    store.create(ShardFiles.CASE_CLOSED).close();
    store.syncDirectory(ShardFiles.QUARANTINE);
  }

  /** Files that stay on disk. Close it once. */
  public interface Pin extends AutoCloseable {
    @Override
    void close();
  }

  private void recover() throws IOException {
    List<String> names = store.list("");
    boolean manifestsHold = true;
    boolean moved = false;
    for (String name : newestManifestsFirst(names)) {
      generation = Math.max(generation, ShardFiles.generation(name).orElseThrow());
      if (current != null) {
        superseded.add(name);
        continue;
      }
      try {
        current = readManifest(name);
      } catch (CorruptFileException e) {
        quarantine(name, e.getMessage());
        moved = true;
        manifestsHold = false;
      }
    }
    if (current != null) {
      moved |= checkFiles();
    }
    if (moved) {
      store.syncDirectory(ShardFiles.QUARANTINE);
      store.syncDirectory("");
    }
    collect();
    removeLeftovers(names, manifestsHold);
  }

  private static List<String> newestManifestsFirst(List<String> names) {
    return names.stream()
        .filter(name -> ShardFiles.generation(name).isPresent())
        .sorted(
            (a, b) ->
                Long.compare(
                    ShardFiles.generation(b).getAsLong(), ShardFiles.generation(a).getAsLong()))
        .toList();
  }

  private Manifest readManifest(String name) throws IOException {
    long length = store.length(name);
    if (length > MANIFEST_BYTES_MAX) {
      throw new CorruptFileException(name, 0, "manifest has " + length + " bytes");
    }
    ByteBuffer bytes = ByteBuffer.allocate((int) length);
    store.read(name, 0, bytes);
    Manifest manifest = Manifest.fromBytes(bytes.array(), name);
    if (!OptionalLong.of(manifest.generation()).equals(ShardFiles.generation(name))) {
      throw new CorruptFileException(name, 0, "manifest is of generation " + manifest.generation());
    }
    return manifest;
  }

  /** Checks every byte of the current checkpoint's files; true when one was moved away. */
  private boolean checkFiles() throws IOException {
    List<CheckpointFile> bad = new ArrayList<>();
    boolean moved = false;
    for (CheckpointFile file : current.files()) {
      String problem = FileCheck.problem(store, file.name(), file);
      if (problem == null) {
        sound.add(file, file.name());
        continue;
      }
      bad.add(file);
      if (store.exists(file.name())) {
        quarantine(file.name(), problem);
        moved = true;
      } else {
        LOG.error("{}: {} is missing", store, file.name());
      }
    }
    damaged = List.copyOf(bad);
    return moved;
  }

  private void quarantine(String name, String reason) throws IOException {
    store.createDirectory(ShardFiles.QUARANTINE);
    removeClosedCase();
    String target = ShardFiles.QUARANTINE + "/" + name;
    for (int copy = 1; store.exists(target); copy++) {
      target = ShardFiles.QUARANTINE + "/" + name + "." + copy;
    }
    LOG.error("{}: {} moved to {}: {}", store, name, target, reason);
    store.rename(name, target);
  }

  /** The mark goes last, so that what is left after a crash is still known to be of that case. */
  private void removeClosedCase() throws IOException {
    if (!store.exists(ShardFiles.CASE_CLOSED)) {
      return;
    }
    List<String> old = new ArrayList<>(store.list(ShardFiles.QUARANTINE));
    old.remove(ShardFiles.CASE_CLOSED);
    LOG.warn("{}: removing what damage repaired before has left: {}", store, old);
    for (String name : old) {
      store.delete(name);
    }
    store.syncDirectory(ShardFiles.QUARANTINE);
    store.delete(ShardFiles.CASE_CLOSED);
    store.syncDirectory(ShardFiles.QUARANTINE);
  }

  /** Removes what an interrupted flush or publish left; says what else lies here. */
  private void removeLeftovers(List<String> names, boolean manifestsHold) throws IOException {
    List<String> removed = new ArrayList<>();
    for (String name : names) {
      String base = ShardFiles.without(ShardFiles.TEMPORARY, name);
      boolean orphan = ShardFiles.isCheckpointFile(name) && !isNamedLocked(name);
      if (!store.exists(name)) {
        continue;
      }
      if (orphan && !manifestsHold) {
        LOG.warn("{}: {} is kept, the damaged manifest may have named it", store, name);
        leftovers.add(name);
      } else if (orphan || (base != null && ShardFiles.isOurs(base))) {
        store.delete(name);
        removed.add(name);
      } else if (!ShardFiles.isOurs(name) && !Arrivals.isArrival(name)) {
        LOG.warn("{}: {} is not a file of ours, left alone", store, name);
      }
    }
    if (!removed.isEmpty()) {
      LOG.info("{}: removed what an interrupted write left: {}", store, removed);
    }
  }

  private Manifest publishLocked(Manifest manifest) throws IOException {
    // A failed attempt may have left its generation on disk: it is never written again.
    generation++;
    Manifest next = manifest.withGeneration(generation);
    try {
      store.syncDirectory("");
      writeManifest(next);
    } catch (IOException e) {
      attempted.add(next);
      throw e;
    }
    if (current != null) {
      supersede(current);
    }
    attempted.forEach(this::supersede);
    attempted.clear();
    current = next;
    damaged = List.of();
    collect();
    return next;
  }

  private void supersede(Manifest manifest) {
    superseded.add(ShardFiles.manifest(manifest.generation()));
    manifest.files().forEach(file -> superseded.add(file.name()));
  }

  private void writeManifest(Manifest manifest) throws IOException {
    String name = ShardFiles.manifest(manifest.generation());
    String temporary = name + ShardFiles.TEMPORARY;
    try (FileOutput out = store.create(temporary)) {
      out.write(ByteBuffer.wrap(manifest.toBytes()));
      out.sync();
    } catch (IOException e) {
      NewFile.discard(store, temporary);
      throw e;
    }
    store.rename(temporary, name);
    store.syncDirectory("");
  }

  /**
   * Removes superseded files that nothing needs, manifests first: a manifest must never be found
   * without its files. A failure is only logged; the file goes later.
   */
  private void collect() {
    boolean manifests = remove(name -> ShardFiles.generation(name).isPresent());
    if (manifests && !trySync()) {
      return;
    }
    remove(name -> !isNamedLocked(name));
  }

  private boolean remove(Predicate<String> which) {
    boolean removed = false;
    for (String name : superseded.stream().filter(which).sorted().toList()) {
      try {
        store.delete(name);
        removed = true;
      } catch (NoSuchFileException e) {
        // Gone already.
      } catch (IOException e) {
        LOG.warn("{}: {} cannot be removed yet: {}", store, name, e.toString());
        continue;
      }
      superseded.remove(name);
      sound.forget(name);
    }
    return removed;
  }

  private boolean trySync() {
    try {
      store.syncDirectory("");
      return true;
    } catch (IOException e) {
      LOG.warn("{}: removed files may come back: {}", store, e.toString());
      return false;
    }
  }

  private boolean isNamedLocked(String name) {
    return (current != null && current.names(name)) || pins.containsKey(name);
  }

  private Pin pin(List<CheckpointFile> files) {
    files.forEach(file -> pins.merge(file.name(), 1, Integer::sum));
    boolean[] open = {true};
    return () -> {
      synchronized (this) {
        if (open[0]) {
          open[0] = false;
          files.forEach(
              file -> pins.computeIfPresent(file.name(), (name, n) -> n == 1 ? null : n - 1));
          collect();
        }
      }
    };
  }
}
