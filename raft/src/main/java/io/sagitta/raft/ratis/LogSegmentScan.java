// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.LogPosition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.WireFormat;

/**
 * What one segment file of Ratis 3.3.0 holds: {@code RaftLog1}, then records of varint length,
 * entry and CRC32C over both (4 bytes, big-endian), then zeros that were preallocated. Read with
 * the JDK's checksum, which is several times faster than Ratis' own.
 *
 * @param nominalEnd last index by the file's name; of an open segment, the last that was read
 * @param last position of the last good entry; index {@code startIndex - 1} if there is none
 * @param goodBytes length up to the end of the last good entry
 * @param termAtMark term of the entry at the first index asked for; -1 if it is not here
 * @param termAtCheckpoint the same for the second
 * @param problem what follows the last good entry, if it is neither the end nor zeros
 */
record LogSegmentScan(
    Path file,
    boolean open,
    long startIndex,
    long nominalEnd,
    LogPosition last,
    long goodBytes,
    long termAtMark,
    long termAtCheckpoint,
    Optional<String> problem) {

  private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.US_ASCII);
  private static final Pattern CLOSED = Pattern.compile("log_(\\d+)-(\\d+)");
  private static final Pattern OPEN = Pattern.compile("log_inprogress_(\\d+)");

  static boolean isSegment(String name) {
    return CLOSED.matcher(name).matches() || OPEN.matcher(name).matches();
  }

  static boolean isOpen(String name) {
    return OPEN.matcher(name).matches();
  }

  static String closedName(long start, long end) {
    return "log_" + start + "-" + end;
  }

  boolean whole() {
    return problem.isEmpty() && (open || nextIndex() == nominalEnd + 1);
  }

  long nextIndex() {
    return last.index() + 1;
  }

  LogSegmentScan renamed(Path to) {
    return new LogSegmentScan(
        to,
        false,
        startIndex,
        last.index(),
        last,
        goodBytes,
        termAtMark,
        termAtCheckpoint,
        problem);
  }

  static LogSegmentScan scan(Path file, long markIndex, long checkpointIndex) throws IOException {
    String name = file.getFileName().toString();
    Matcher closed = CLOSED.matcher(name);
    Matcher inProgress = OPEN.matcher(name);
    if (closed.matches()) {
      return new Reader(
              file,
              Long.parseLong(closed.group(1)),
              Long.parseLong(closed.group(2)),
              markIndex,
              checkpointIndex)
          .read();
    } else if (inProgress.matches()) {
      return new Reader(file, Long.parseLong(inProgress.group(1)), -1, markIndex, checkpointIndex)
          .read();
    }
    throw new IllegalArgumentException("not a log segment: " + file);
  }

  private static final class Reader {
    private final Path file;
    private final long startIndex;
    private final long endByName;
    private final long markIndex;
    private final long checkpointIndex;
    private LogPosition last;
    private long goodBytes;
    private long termAtMark = -1;
    private long termAtCheckpoint = -1;

    Reader(Path file, long startIndex, long endByName, long markIndex, long checkpointIndex) {
      this.file = file;
      this.startIndex = startIndex;
      this.endByName = endByName;
      this.markIndex = markIndex;
      this.checkpointIndex = checkpointIndex;
      this.last = new LogPosition(0, startIndex - 1);
    }

    LogSegmentScan read() throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
      Optional<String> problem = readRecords(bytes);
      boolean isOpen = endByName < 0;
      return new LogSegmentScan(
          file,
          isOpen,
          startIndex,
          isOpen ? last.index() : endByName,
          last,
          goodBytes,
          termAtMark,
          termAtCheckpoint,
          problem);
    }

    private Optional<String> readRecords(ByteBuffer bytes) {
      if (bytes.remaining() < HEADER.length || !headerMatches(bytes)) {
        return onlyZeros(bytes, 0)
            ? Optional.empty()
            : problem(0, "the header RaftLog1", "something else");
      }
      goodBytes = HEADER.length;
      while (goodBytes < bytes.limit()) {
        int at = (int) goodBytes;
        if (bytes.get(at) == 0) {
          return onlyZeros(bytes, at)
              ? Optional.empty()
              : problem(at, "zeros to the end of the file", "other bytes");
        }
        Optional<String> bad = readRecord(bytes, at);
        if (bad.isPresent()) {
          return bad;
        }
      }
      return Optional.empty();
    }

    private boolean headerMatches(ByteBuffer bytes) {
      return bytes.slice(0, HEADER.length).equals(ByteBuffer.wrap(HEADER));
    }

    /** Reads the record at {@code at} and moves on, or says what is wrong with it. */
    private Optional<String> readRecord(ByteBuffer bytes, int at) {
      int length = 0;
      int body = at;
      for (int shift = 0; ; shift += 7) {
        if (body >= bytes.limit() || shift > 28) {
          return problem(at, "a record's length", "the end of the file or no varint");
        }
        int b = bytes.get(body++);
        length |= (b & 0x7f) << shift;
        if (b >= 0) {
          break;
        }
      }
      if (length <= 0 || length > bytes.limit() - body - 4) {
        return problem(at, "a record of " + length + " bytes", (bytes.limit() - body) + " bytes");
      }
      CRC32C crc = new CRC32C();
      crc.update(bytes.slice(at, body + length - at));
      int stored = bytes.getInt(body + length);
      if ((int) crc.getValue() != stored) {
        return problem(
            at,
            "checksum " + Integer.toHexString(stored),
            Integer.toHexString((int) crc.getValue()));
      }
      LogPosition here;
      try {
        here = position(bytes.slice(body, length));
      } catch (IOException e) {
        return problem(at, "a log entry", e.getMessage());
      }
      if (here.index() != last.index() + 1) {
        return problem(at, "entry " + (last.index() + 1), "entry " + here.index());
      }
      last = here;
      goodBytes = body + length + 4L;
      if (here.index() == markIndex) {
        termAtMark = here.term();
      }
      if (here.index() == checkpointIndex) {
        termAtCheckpoint = here.term();
      }
      return Optional.empty();
    }

    /** Term and index stand first in an entry; the rest, up to a megabyte, is not parsed. */
    private static LogPosition position(ByteBuffer entry) throws IOException {
      CodedInputStream in = CodedInputStream.newInstance(entry);
      long term = 0;
      long index = 0;
      int tag;
      while ((tag = in.readTag()) != 0) {
        int field = WireFormat.getTagFieldNumber(tag);
        if (field == LogEntryProto.TERM_FIELD_NUMBER) {
          term = in.readUInt64();
        } else if (field == LogEntryProto.INDEX_FIELD_NUMBER) {
          index = in.readUInt64();
        } else {
          break;
        }
      }
      return new LogPosition(term, index);
    }

    private static boolean onlyZeros(ByteBuffer bytes, int from) {
      for (int i = from; i < bytes.limit(); i++) {
        if (bytes.get(i) != 0) {
          return false;
        }
      }
      return true;
    }

    private Optional<String> problem(long offset, String expected, String found) {
      return Optional.of(
          file + ": offset " + offset + ": expected " + expected + ", found " + found);
    }
  }
}
