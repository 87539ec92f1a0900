// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static io.sagitta.shard.format.FrameLayout.INT;
import static io.sagitta.shard.format.FrameLayout.LONG;

import io.sagitta.shard.distance.HugePages;
import io.sagitta.shard.store.FileStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A framed file, read. Header, footer and tables have been checked when one exists; the sections
 * are checked by {@link #verify}. Whatever the bytes are, nothing outside of them is read.
 */
final class Frame {
  /** Read at a time. */
  private static final long LOAD_BYTES = 16 << 20;

  private record Section(int code, MemorySegment bytes) {}

  private final String name;
  private final MemorySegment file;
  private final FrameHeader header;
  private final long tablesOffset;
  private final MemorySegment blockTable;
  private final List<Section> sections;

  private Frame(
      String name,
      MemorySegment file,
      FrameHeader header,
      long tablesOffset,
      MemorySegment blockTable,
      List<Section> sections) {
    this.name = name;
    this.file = file;
    this.header = header;
    this.tablesOffset = tablesOffset;
    this.blockTable = blockTable;
    this.sections = sections;
  }

  /** Maps a file of a store and checks its frame. */
  static Frame map(FileStore store, String name, Arena arena) throws IOException {
    return of(name, store.map(name, arena));
  }

  /** Reads a file of a store into memory, in huge pages where it is large, and checks its frame. */
  static Frame load(FileStore store, String name, Arena arena) throws IOException {
    long length = store.length(name);
    MemorySegment memory = HugePages.allocate(length, arena);
    for (long at = 0; at < length; at += LOAD_BYTES) {
      ByteBuffer into = memory.asSlice(at, Math.min(LOAD_BYTES, length - at)).asByteBuffer();
      store.read(name, at, into);
      if (into.hasRemaining()) {
        long end = at + into.position();
        throw new CorruptFileException(name, end, "length of the file", length, end);
      }
    }
    return of(name, memory);
  }

  /**
   * Checks the frame of a file.
   *
   * @param name for messages
   * @throws CorruptFileException when it is damaged or no such file at all
   * @throws FormatTooNewException when a later release wrote it
   * @throws FormatTooOldException when this release no longer reads its version
   */
  static Frame of(String name, MemorySegment file) throws IOException {
    FrameHeader header = header(name, file);
    long end = file.byteSize() - FrameLayout.FOOTER_BYTES;
    MemorySegment footer = file.asSlice(end);
    long tablesOffset = footer.get(LONG, FrameLayout.TABLES_OFFSET_AT);
    int sectionCount = footer.get(INT, FrameLayout.SECTIONS_AT);
    int blockCount = footer.get(INT, FrameLayout.BLOCKS_AT);
    checkFooter(name, footer, end);
    if (tablesOffset < FrameLayout.HEADER_BYTES
        || tablesOffset > end
        || blockCount != blocks(tablesOffset)
        || sectionCount < 0
        || (long) sectionCount * FrameLayout.SECTION_ENTRY_BYTES
                + (long) blockCount * FrameLayout.BLOCK_ENTRY_BYTES
            != end - tablesOffset) {
      throw new CorruptFileException(
          name,
          end,
          "%d sections and %d blocks from %d on do not fit"
              .formatted(sectionCount, blockCount, tablesOffset));
    }
    MemorySegment tables = file.asSlice(tablesOffset, end - tablesOffset);
    int tablesCrc = footer.get(INT, FrameLayout.TABLES_CRC_AT);
    check(name, tablesOffset, "checksum of tables", tablesCrc, Checksums.of(tables));
    long sectionBytes = (long) sectionCount * FrameLayout.SECTION_ENTRY_BYTES;
    return new Frame(
        name,
        file,
        header,
        tablesOffset,
        tables.asSlice(sectionBytes),
        sections(name, file, tablesOffset, tables.asSlice(0, sectionBytes)));
  }

  /** This frame, after checking that the file is the one expected. */
  Frame expect(FrameHeader expected) throws CorruptFileException {
    if (!header.equals(expected)) {
      throw new CorruptFileException(
          name, FrameLayout.KIND_AT, "file is " + header + ", expected " + expected);
    }
    return this;
  }

  FrameHeader header() {
    return header;
  }

  String name() {
    return name;
  }

  /** All bytes of the file. */
  MemorySegment file() {
    return file;
  }

  /** A section that must be there. */
  MemorySegment section(int code) throws CorruptFileException {
    MemorySegment section = sectionOrNull(code);
    if (section == null) {
      throw new CorruptFileException(name, tablesOffset, "section " + code + " is missing");
    }
    return section;
  }

  /** A section that must be there and have this length. */
  MemorySegment section(int code, long length) throws CorruptFileException {
    MemorySegment section = section(code);
    if (section.byteSize() != length) {
      throw new CorruptFileException(
          name,
          tablesOffset,
          "section %d has %d bytes, expected %d".formatted(code, section.byteSize(), length));
    }
    return section;
  }

  /** A section, or null where the file has none of this code. */
  MemorySegment sectionOrNull(int code) {
    for (Section section : sections) {
      if (section.code == code) {
        return section.bytes;
      }
    }
    return null;
  }

  /** Compares every block of the file with its checksum. */
  Frame verify() throws CorruptFileException {
    long count = blockTable.byteSize() / FrameLayout.BLOCK_ENTRY_BYTES;
    for (long block = 0; block < count; block++) {
      long from = block * FrameLayout.BLOCK_BYTES;
      long length = Math.min(FrameLayout.BLOCK_BYTES, tablesOffset - from);
      int expected = blockTable.get(INT, block * FrameLayout.BLOCK_ENTRY_BYTES);
      int found = Checksums.of(file.asSlice(from, length));
      check(name, from, "checksum of the block", expected, found);
    }
    return this;
  }

  private static FrameHeader header(String name, MemorySegment file) throws IOException {
    if (file.byteSize() < FrameLayout.HEADER_BYTES + FrameLayout.FOOTER_BYTES) {
      throw new CorruptFileException(
          name,
          0,
          "file has %d bytes, expected at least %d"
              .formatted(file.byteSize(), FrameLayout.HEADER_BYTES + FrameLayout.FOOTER_BYTES));
    }
    check(name, 0, "magic", FrameLayout.MAGIC, file.get(LONG, 0));
    int expected = file.get(INT, FrameLayout.HEADER_CRC_AT);
    int found = Checksums.of(file.asSlice(0, FrameLayout.HEADER_CRC_AT));
    check(name, 0, "checksum of the header", expected, found);
    int version = Short.toUnsignedInt(file.get(FrameLayout.SHORT, FrameLayout.VERSION_AT));
    if (version > FrameLayout.VERSION) {
      throw new FormatTooNewException(name, version, FrameLayout.VERSION);
    }
    if (version < FrameLayout.VERSION_OLDEST) {
      throw new FormatTooOldException(name, version, FrameLayout.VERSION_OLDEST);
    }
    int length = file.get(INT, FrameLayout.HEADER_LENGTH_AT);
    check(
        name,
        FrameLayout.HEADER_LENGTH_AT,
        "length of the header",
        FrameLayout.HEADER_BYTES,
        length);
    int code = Short.toUnsignedInt(file.get(FrameLayout.SHORT, FrameLayout.KIND_AT));
    return new FrameHeader(
        kind(name, code),
        new UUID(
            file.get(FrameLayout.BIG_ENDIAN_LONG, FrameLayout.OWNER_AT),
            file.get(FrameLayout.BIG_ENDIAN_LONG, FrameLayout.OWNER_AT + Long.BYTES)),
        file.get(LONG, FrameLayout.NUMBER_AT),
        file.get(LONG, FrameLayout.ROWS_AT));
  }

  private static FileKind kind(String name, int code) throws CorruptFileException {
    for (FileKind kind : FileKind.values()) {
      if (kind.code() == code) {
        return kind;
      }
    }
    throw new CorruptFileException(name, FrameLayout.KIND_AT, "unknown kind " + code);
  }

  private static void checkFooter(String name, MemorySegment footer, long at)
      throws CorruptFileException {
    long length = at + FrameLayout.FOOTER_BYTES;
    check(
        name,
        at + FrameLayout.FOOTER_MAGIC_AT,
        "magic of the footer",
        FrameLayout.FOOTER_MAGIC,
        footer.get(LONG, FrameLayout.FOOTER_MAGIC_AT));
    int expected = footer.get(INT, FrameLayout.FOOTER_CRC_AT);
    int found = Checksums.of(footer.asSlice(0, FrameLayout.FOOTER_CRC_AT));
    check(name, at, "checksum of the footer", expected, found);
    check(name, at, "length of the file", footer.get(LONG, FrameLayout.FILE_LENGTH_AT), length);
    check(
        name,
        at + FrameLayout.BLOCK_BYTES_AT,
        "size of a block",
        FrameLayout.BLOCK_BYTES,
        footer.get(INT, FrameLayout.BLOCK_BYTES_AT));
  }

  private static List<Section> sections(
      String name, MemorySegment file, long tablesOffset, MemorySegment table)
      throws CorruptFileException {
    List<Section> sections = new ArrayList<>();
    long end = FrameLayout.HEADER_BYTES;
    for (long at = 0; at < table.byteSize(); at += FrameLayout.SECTION_ENTRY_BYTES) {
      long offset = table.get(LONG, at + 8);
      long length = table.get(LONG, at + 16);
      if (offset < end
          || offset % FrameLayout.SECTION_ALIGNMENT != 0
          || length < 0
          || length > tablesOffset - offset) {
        throw new CorruptFileException(
            name,
            tablesOffset + at,
            "section at %d of %d bytes, expected one within %d..%d"
                .formatted(offset, length, end, tablesOffset));
      }
      sections.add(new Section(table.get(INT, at), file.asSlice(offset, length)));
      end = offset + length;
    }
    return sections;
  }

  private static long blocks(long bytes) {
    return (bytes + FrameLayout.BLOCK_BYTES - 1) / FrameLayout.BLOCK_BYTES;
  }

  private static void check(String name, long offset, String what, long expected, long found)
      throws CorruptFileException {
    if (expected != found) {
      throw new CorruptFileException(name, offset, what, expected, found);
    }
  }
}
