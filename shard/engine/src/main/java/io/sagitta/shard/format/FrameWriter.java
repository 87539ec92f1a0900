// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import static io.sagitta.shard.format.FrameLayout.BLOCK_BYTES;
import static io.sagitta.shard.format.FrameLayout.INT;
import static io.sagitta.shard.format.FrameLayout.LONG;

import io.sagitta.shard.store.FileOutput;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Writes one framed file front to back: sections one after the other, then {@link #finish}.
 * Checksums are taken from the bytes on their way out, a block at a time. Closes neither file nor
 * store.
 */
final class FrameWriter implements AutoCloseable {
  private static final int BUFFER_BYTES = 4 * BLOCK_BYTES;

  /** Length and checksum of a whole file. */
  record Written(long length, int checksum) {}

  private record Section(int code, long offset, long length) {}

  private final FileOutput out;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment buffer = arena.allocate(BUFFER_BYTES, FrameLayout.SECTION_ALIGNMENT);
  private final ByteBuffer bytes = buffer.asByteBuffer();
  private final CRC32C whole = new CRC32C();
  private final CRC32C block = new CRC32C();
  private final List<Section> sections = new ArrayList<>();
  private int[] blocks = new int[16];
  private int blockCount;
  private boolean inTables;
  private int used;
  private long flushed;
  private int sectionCode;
  private long sectionOffset = -1;

  FrameWriter(FileOutput out, FrameHeader header) throws IOException {
    this.out = out;
    MemorySegment head = arena.allocate(FrameLayout.HEADER_BYTES);
    head.set(LONG, 0, FrameLayout.MAGIC);
    head.set(INT, FrameLayout.HEADER_LENGTH_AT, FrameLayout.HEADER_BYTES);
    head.set(FrameLayout.SHORT, FrameLayout.VERSION_AT, (short) FrameLayout.VERSION);
    head.set(FrameLayout.SHORT, FrameLayout.KIND_AT, (short) header.kind().code());
    head.set(
        FrameLayout.BIG_ENDIAN_LONG, FrameLayout.OWNER_AT, header.owner().getMostSignificantBits());
    head.set(
        FrameLayout.BIG_ENDIAN_LONG,
        FrameLayout.OWNER_AT + Long.BYTES,
        header.owner().getLeastSignificantBits());
    head.set(LONG, FrameLayout.NUMBER_AT, header.number());
    head.set(LONG, FrameLayout.ROWS_AT, header.rows());
    head.set(
        INT, FrameLayout.HEADER_CRC_AT, Checksums.of(head.asSlice(0, FrameLayout.HEADER_CRC_AT)));
    write(head);
  }

  /** Ends the section before, if any, and begins one at the next multiple of 64. */
  void section(int code) throws IOException {
    endSection();
    writeZeros(FrameLayout.align(position(), FrameLayout.SECTION_ALIGNMENT) - position());
    sectionCode = code;
    sectionOffset = position();
  }

  /** Place in the file of the next byte. */
  long position() {
    return flushed + used;
  }

  /** Place in the current section of the next byte. */
  long sectionPosition() {
    return position() - sectionOffset;
  }

  void write(MemorySegment source) throws IOException {
    long at = 0;
    while (at < source.byteSize()) {
      int count = (int) Math.min(source.byteSize() - at, BUFFER_BYTES - used);
      MemorySegment.copy(source, at, buffer, used, count);
      at += count;
      advance(count);
    }
  }

  void writeZeros(long count) throws IOException {
    long left = count;
    while (left > 0) {
      int now = (int) Math.min(left, BUFFER_BYTES - used);
      buffer.asSlice(used, now).fill((byte) 0);
      left -= now;
      advance(now);
    }
  }

  void writeInt(int value) throws IOException {
    if (BUFFER_BYTES - used >= Integer.BYTES) {
      buffer.set(INT, used, value);
      advance(Integer.BYTES);
    } else {
      write(ofInt(value));
    }
  }

  void writeLong(long value) throws IOException {
    writeInt((int) value);
    writeInt((int) (value >>> Integer.SIZE));
  }

  /** Writes tables and footer; the file is complete then, not yet durable. */
  Written finish() throws IOException {
    endSection();
    writeZeros(FrameLayout.align(position(), Long.BYTES) - position());
    long tablesOffset = position();
    flush();
    if (flushed > (long) blockCount * BLOCK_BYTES) {
      endBlock();
    }
    inTables = true;
    for (Section section : sections) {
      writeInt(section.code);
      writeInt(0);
      writeLong(section.offset);
      writeLong(section.length);
    }
    for (int i = 0; i < blockCount; i++) {
      writeInt(blocks[i]);
    }
    flush();
    int tablesCrc = (int) block.getValue();
    MemorySegment footer = arena.allocate(FrameLayout.FOOTER_BYTES);
    footer.set(LONG, FrameLayout.TABLES_OFFSET_AT, tablesOffset);
    footer.set(LONG, FrameLayout.FILE_LENGTH_AT, position() + FrameLayout.FOOTER_BYTES);
    footer.set(INT, FrameLayout.SECTIONS_AT, sections.size());
    footer.set(INT, FrameLayout.BLOCKS_AT, blockCount);
    footer.set(INT, FrameLayout.BLOCK_BYTES_AT, BLOCK_BYTES);
    footer.set(INT, FrameLayout.TABLES_CRC_AT, tablesCrc);
    footer.set(LONG, FrameLayout.FOOTER_MAGIC_AT, FrameLayout.FOOTER_MAGIC);
    footer.set(
        INT, FrameLayout.FOOTER_CRC_AT, Checksums.of(footer.asSlice(0, FrameLayout.FOOTER_CRC_AT)));
    write(footer);
    flush();
    return new Written(flushed, (int) whole.getValue());
  }

  private static MemorySegment ofInt(int value) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[Integer.BYTES]);
    bytes.set(INT, 0, value);
    return bytes;
  }

  private void endSection() {
    if (sectionOffset >= 0) {
      sections.add(new Section(sectionCode, sectionOffset, position() - sectionOffset));
      sectionOffset = -1;
    }
  }

  private void advance(int count) throws IOException {
    used += count;
    if (used == BUFFER_BYTES) {
      flush();
    }
  }

  /**
   * The buffer holds whole blocks, so that only the last block of the sections is flushed short.
   */
  private void flush() throws IOException {
    whole.update(bytes.clear().limit(used));
    for (int from = 0; from < used; from += BLOCK_BYTES) {
      block.update(bytes.clear().position(from).limit(Math.min(used, from + BLOCK_BYTES)));
      if (!inTables && from + BLOCK_BYTES <= used) {
        endBlock();
      }
    }
    out.write(bytes.clear().limit(used));
    flushed += used;
    used = 0;
  }

  private void endBlock() {
    if (blockCount == blocks.length) {
      blocks = Arrays.copyOf(blocks, blockCount * 2);
    }
    blocks[blockCount++] = (int) block.getValue();
    block.reset();
  }

  @Override
  public void close() {
    arena.close();
  }
}
