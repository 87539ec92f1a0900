// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.DamageException;
import io.sagitta.raft.DamagedStateException;
import io.sagitta.raft.LogPosition;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at a group's log before Ratis opens it, because Ratis is too trusting and too strict at
 * once: it takes a cut or zeroed tail for "never committed" and starts with it, and it refuses a
 * log whose last record was torn by a power cut, which is what power cuts do.
 *
 * <p>The rule (protocol-aware recovery, Alagappan et al., FAST 2018, in its simplest form): what
 * lies at or below the {@link HighWaterMark} or was closed by a later segment must be whole, or the
 * group does not start here; a bad end above the mark was never acknowledged as committed, and is
 * cut off, after a copy was set aside. Segments that the recovered checkpoint covers may be missing
 * or bad: Ratis would have purged them.
 */
final class LogInspection {
  private static final Logger LOG = LoggerFactory.getLogger(LogInspection.class);

  /** Copies of bad ends kept for whoever investigates. */
  private static final int COPIES_MAX = 4;

  private final GroupFolder folder;
  private final LogPosition recovered;
  private final LogPosition mark;
  private final DirectoryFsync fsync;

  /** Whether files may be changed. */
  private final boolean mend;

  private LogInspection(
      GroupFolder folder,
      LogPosition recovered,
      LogPosition mark,
      DirectoryFsync fsync,
      boolean mend) {
    this.folder = folder;
    this.recovered = recovered;
    this.mark = mark;
    this.fsync = fsync;
    this.mend = mend;
  }

  /**
   * Repairs what may be repaired.
   *
   * @param recovered position of the state, as recovered from its newest checkpoint
   * @param mark the group's high-water mark
   * @return position of the last entry, or {@code recovered} if that is further
   * @throws DamagedStateException where a later checkpoint than {@code recovered} would be enough
   * @throws IOException naming file, offset, expected and found, if the log must not be used
   */
  static LogPosition inspect(
      GroupFolder folder, LogPosition recovered, LogPosition mark, DirectoryFsync fsync)
      throws IOException {
    return new LogInspection(folder, recovered, mark, fsync, true).run();
  }

  /**
   * Looks and changes nothing: whether the log is whole beside a checkpoint that ends at {@code
   * checkpoint}, were it here.
   *
   * @throws IOException as {@link #inspect}
   */
  static void check(GroupFolder folder, LogPosition checkpoint, LogPosition mark)
      throws IOException {
    new LogInspection(folder, checkpoint, mark, directory -> {}, false).run();
  }

  private LogPosition run() throws IOException {
    List<LogSegmentScan> segments = scanAll();
    segments = dropAstray(dropCovered(segments));
    checkJoints(segments);
    LogPosition end = recovered;
    if (!segments.isEmpty()) {
      LogSegmentScan first = segments.getFirst();
      if (first.startIndex() > recovered.index() + 1) {
        throw new DamagedStateException(
            "log begins at index "
                + first.startIndex()
                + " ("
                + first.file()
                + ") but the newest valid checkpoint ends at "
                + recovered.index(),
            first.startIndex() - 1,
            null);
      }
      repairEnd(segments.getLast());
      LogPosition last = segments.getLast().last();
      end = last.compareTo(recovered) > 0 ? last : recovered;
    }
    checkMark(segments, end);
    return end;
  }

  private List<LogSegmentScan> scanAll() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(folder.current())) {
      files = all.filter(f -> LogSegmentScan.isSegment(f.getFileName().toString())).toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
    List<LogSegmentScan> segments = new ArrayList<>();
    for (Path file : files) {
      if (Files.size(file) == 0 && LogSegmentScan.isOpen(file.getFileName().toString())) {
        if (mend) {
          LOG.warn("removing empty log segment {}", file);
          DurableFile.delete(file, fsync);
        }
      } else {
        segments.add(LogSegmentScan.scan(file, mark.index(), recovered.index()));
      }
    }
    segments.sort(Comparator.comparingLong(LogSegmentScan::startIndex));
    return segments;
  }

  /** Deletes leading segments that are wholly covered by the checkpoint and bad or cut off. */
  private List<LogSegmentScan> dropCovered(List<LogSegmentScan> segments) throws IOException {
    int keepFrom = 0;
    for (int i = 0; i < segments.size(); i++) {
      LogSegmentScan segment = segments.get(i);
      boolean last = i == segments.size() - 1;
      boolean joined = last || segments.get(i + 1).startIndex() == segment.nextIndex();
      boolean covered = segment.nominalEnd() <= recovered.index();
      if (covered && (!joined || (!segment.whole() && !last))) {
        keepFrom = i + 1;
      }
    }
    // A last segment that ends before the checkpoint would be purged by Ratis, but only after its
    // configuration entries, which may never have been committed, were taken for the present ones.
    if (!segments.isEmpty()
        && segments.getLast().nextIndex() - 1 < recovered.index()
        && segments.getLast().nominalEnd() <= recovered.index()) {
      keepFrom = segments.size();
    }
    for (LogSegmentScan segment : segments.subList(0, keepFrom)) {
      delete(segment.file());
    }
    return segments.subList(keepFrom, segments.size());
  }

  /**
   * A checkpoint that came from a peer while the group did not run may hold another entry at its
   * index than the log: that one and all after it were never committed, and all before it is in the
   * checkpoint.
   */
  private List<LogSegmentScan> dropAstray(List<LogSegmentScan> segments) throws IOException {
    boolean astray =
        mend
            && mark.index() < recovered.index()
            && segments.stream()
                .anyMatch(
                    s -> s.termAtCheckpoint() >= 0 && s.termAtCheckpoint() != recovered.term());
    if (!astray) {
      return segments;
    }
    for (LogSegmentScan segment : segments.reversed()) {
      delete(segment.file());
    }
    return List.of();
  }

  private void checkJoints(List<LogSegmentScan> segments) throws IOException {
    for (int i = 0; i + 1 < segments.size(); i++) {
      LogSegmentScan segment = segments.get(i);
      LogSegmentScan next = segments.get(i + 1);
      if (!segment.whole() || next.startIndex() != segment.nextIndex()) {
        throw new DamageException(
            segment.problem().orElse(segment.file() + " ends at index " + (segment.nextIndex() - 1))
                + ", but "
                + next.file().getFileName()
                + " follows");
      }
      if (segment.open() && mend) {
        // The rename at its closing was lost; the next segment shows that it is complete.
        segments.set(i, rename(segment));
      }
    }
  }

  private void repairEnd(LogSegmentScan last) throws IOException {
    boolean shortened = !last.open() && last.nextIndex() - 1 < last.nominalEnd();
    if (last.whole() && !shortened) {
      return;
    }
    if (mark.index() >= last.nextIndex()) {
      throw new DamageException(
          last.problem().orElse(last.file() + " ends at index " + (last.nextIndex() - 1))
              + "; entries up to index "
              + mark.index()
              + " were committed");
    }
    if (!mend) {
      return;
    }
    LOG.warn(
        "cutting off the end of the log at index {}: {}",
        last.nextIndex(),
        last.problem().orElse("shorter than its name says"));
    keepCopy(last.file());
    if (last.nextIndex() == last.startIndex()) {
      DurableFile.delete(last.file(), fsync);
      return;
    }
    try (FileChannel channel = FileChannel.open(last.file(), StandardOpenOption.WRITE)) {
      channel.truncate(last.goodBytes());
      channel.force(true);
    }
    if (!last.open()) {
      rename(last);
    }
  }

  private LogSegmentScan rename(LogSegmentScan segment) throws IOException {
    Path named =
        segment
            .file()
            .resolveSibling(
                LogSegmentScan.closedName(segment.startIndex(), segment.nextIndex() - 1));
    Files.move(segment.file(), named, StandardCopyOption.ATOMIC_MOVE);
    fsync.fsync(folder.current());
    return segment.renamed(named);
  }

  private void checkMark(List<LogSegmentScan> segments, LogPosition end) throws IOException {
    if (end.index() < mark.index()) {
      throw new DamageException(
          "log ends at index "
              + end.index()
              + ", but entries up to index "
              + mark.index()
              + " were committed: the tail is missing in "
              + folder.current());
    }
    for (LogSegmentScan segment : segments) {
      if (segment.termAtMark() >= 0 && segment.termAtMark() != mark.term()) {
        throw new DamageException(
            segment.file()
                + ": entry "
                + mark.index()
                + " was committed in term "
                + mark.term()
                + ", found term "
                + segment.termAtMark());
      }
    }
  }

  private void delete(Path file) throws IOException {
    if (!mend) {
      return;
    }
    LOG.warn("deleting {}, which the checkpoint at index {} covers", file, recovered.index());
    DurableFile.delete(file, fsync);
  }

  private void keepCopy(Path file) throws IOException {
    Files.createDirectories(folder.aside());
    Files.copy(
        file,
        folder.aside().resolve(file.getFileName() + "." + System.currentTimeMillis()),
        StandardCopyOption.REPLACE_EXISTING);
    try (Stream<Path> all = Files.list(folder.aside())) {
      for (Path old :
          all.sorted(Comparator.comparing(LogInspection::modified).reversed())
              .skip(COPIES_MAX)
              .toList()) {
        Files.delete(old);
      }
    }
  }

  private static FileTime modified(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      return FileTime.fromMillis(0);
    }
  }
}
