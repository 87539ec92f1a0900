// SPDX-License-Identifier: Apache-2.0

/**
 * The files of a shard, version 1: layouts, writers, readers, and the directory they lie in.
 *
 * <p>Read {@link io.sagitta.shard.format.CheckpointDirectory} first (which files count), then
 * {@link io.sagitta.shard.format.SegmentWriter} and {@link io.sagitta.shard.format.MappedSegment}.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A file is written once, under a temporary name, fsynced, renamed; it never changes after.
 *   <li>A file's bytes follow from the log alone: no clock, no chance, no order of threads.
 *       Replicas write the same bytes.
 *   <li>Every byte is covered by a checksum. Frames are checked at each open, small files whole at
 *       each open, large ones whole at an install and by {@code verify()}.
 *   <li>Where a field's vectors are read from, the mapped file or memory, is the schema's matter;
 *       their file is the same.
 *   <li>Each format version has its golden files beside the tests; a new one is a new reader.
 * </ul>
 *
 * <h2>The frame of every file</h2>
 *
 * Numbers are little-endian. A file is a header, sections, tables and a footer.
 *
 * <pre>
 * header, 64 bytes                           its layout never changes
 *   0  u8[8]  magic 89 53 47 54 41 0d 0a 1a  (.SGTA and line ends, as PNG does it)
 *   8  u32    header length, 64
 *  12  u16    format version, 1
 *  14  u16    kind: 1 segment, 2 ids, 3 payload, 4 versions, 5 vectors, 6 lives, 7 sessions,
 *             8 manifest, 9 graph
 *  16  u8[16] segment id, most significant byte first; zeros for sessions and manifest
 *  32  u64    field id (vectors, graph), log index (lives, sessions), generation (manifest), else 0
 *  40  u64    rows of the segment; 0 for sessions and manifest
 *  48  u8[12] zeros
 *  60  u32    CRC32C of bytes 0..59
 * sections, each from a multiple of 64 on, zeros between
 * section table, 24 bytes each, from a multiple of 8 on
 *   0  u32 section   4 u32 zero   8 u64 offset   16 u64 length
 * block table, 4 bytes each
 *   u32 CRC32C of each 64 KiB of the file from 0 to the section table, the last one shorter
 * footer, 48 bytes
 *   0  u64    offset of the section table
 *   8  u64    length of the file
 *  16  u32    number of sections
 *  20  u32    number of blocks
 *  24  u32    bytes of a block, 65,536
 *  28  u32    CRC32C of section table and block table
 *  32  u8[8]  magic 1a 0a 0d 41 54 47 53 89
 *  40  u32    zero
 *  44  u32    CRC32C of footer bytes 0..43
 * </pre>
 *
 * The checksum that manifests and peers know a file by is the CRC32C of all its bytes.
 *
 * <h2>Files of a segment</h2>
 *
 * Named {@code <segment id>.<what>}; all rows, dead ones too, in ordinal order.
 *
 * <pre>
 * .segment      section 1   JSON: rows, schema, and name, length, checksum of the files below
 * .vectors.F    section 1   rows at a stride: the vector's bytes, padded with zeros to a multiple of
 *                           64, or to a power of two where they are fewer; zeros for a null
 *               section 2   validity, one bit a row, least significant first; only with nulls
 *               section 3   float32 inverse norms; only for cosine; 0 for a null
 * .payload      section 1   messages: Arrow IPC RecordBatch messages of the payload fields, each from
 *                           a multiple of 64 on
 *               section 2   chunks, 24 bytes each: u64 offset in section 1, u64 length, u32 first
 *                           ordinal, u32 rows
 * .ids          section 1   messages of the id column, one for each chunk of .payload
 *               section 2   chunks, as above
 *               section 3   hash table, u64 each, a power of two of them: 0, or ordinal + 1 in the low
 *                           half and bits 20..51 of the XXH3-64 of the id's canonical bytes in the
 *                           high half; linear probing from the hash modulo the size; the newest
 *                           ordinal of each id
 *               section 4   int32 each row: the ordinal before it with the same id, or -1; only where
 *                           some id has several
 * .versions     section 1   int64 each row: _version
 * .lives.I      section 1   u64 each 64 rows: bit set where the row lives at log index I
 * </pre>
 *
 * <h2>Files of a replica's own</h2>
 *
 * Graphs are derived, differ from replica to replica, and are named by no manifest; what each
 * region holds stands in the description of {@link io.sagitta.shard.hnsw}.
 *
 * <pre>
 * indexes/{@code <segment id>}.graph.F
 *               section 1   JSON: parameters, entry, and the recall measured by k and effort
 *               section 2   float32 each component: the centre
 *               section 3   rows of high nibbles, or of bits
 *               section 4   rows of low nibbles; only where they were kept
 *               section 5   links of level 0
 *               section 6   levels and places of upper links
 *               section 7   upper links
 *               section 8   codes of neighbours; only where they pay
 *               section 9   float32 each: their codebook
 * </pre>
 *
 * <h2>Other files</h2>
 *
 * <pre>
 * sessions.I    section 1   the writers' table at log index I, the engine's own bytes
 * manifest.G    section 1   JSON: generation, term, log index, segments, files
 *               section 2   the shard's state, the engine's own bytes
 * NAME.tmp                  being written; removed at the next open
 * NAME.C.part               arriving from a peer; C is the checksum awaited
 * NAME.C.staged             arrived and verified, awaits its install
 * quarantine/NAME           damaged, moved away for a person to see
 * quarantine/case-closed    empty: the others have been replaced, and go when the next ones come
 * </pre>
 */
package io.sagitta.shard.format;
