// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddingJournalTest {
  private static final int ROWS = 2 * EmbeddingJournal.CHUNK_ROWS + 7;
  private static final int DIMENSION = 3;

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void nameTheFile() {
    file = folder.resolve("sub").resolve("vectors.part");
  }

  private EmbeddingJournal open(String key) throws IOException {
    return EmbeddingJournal.open(file, key, ROWS, DIMENSION);
  }

  private static void append(EmbeddingJournal journal, int chunk) throws IOException {
    float[][] rows = new float[journal.rowsOf(chunk)][DIMENSION];
    for (int i = 0; i < rows.length; i++) {
      rows[i][1] = journal.firstRow(chunk) + i;
    }
    journal.append(chunk, rows);
  }

  @Test
  void chunksOfAnyOrderAreThereAfterAReopening() throws IOException {
    try (EmbeddingJournal journal = open("a")) {
      append(journal, 2);
      append(journal, 0);
    }
    try (EmbeddingJournal journal = open("a")) {
      assertThat(journal.has(0)).isTrue();
      assertThat(journal.has(1)).isFalse();
      assertThat(journal.has(2)).isTrue();
      assertThat(journal.rowsDone()).isEqualTo(EmbeddingJournal.CHUNK_ROWS + 7);
      assertThat(journal.vectors()[ROWS - 1]).containsExactly(0, ROWS - 1, 0);
      append(journal, 1);
    }
    try (EmbeddingJournal journal = open("a")) {
      assertThat(journal.rowsDone()).isEqualTo(ROWS);
    }
  }

  @Test
  void aTornChunkIsEmbeddedAgainAndThoseBeforeItAreKept() throws IOException {
    try (EmbeddingJournal journal = open("a")) {
      append(journal, 0);
      append(journal, 1);
    }
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, java.util.Arrays.copyOf(whole, whole.length - 5));
    try (EmbeddingJournal journal = open("a")) {
      assertThat(journal.has(0)).isTrue();
      assertThat(journal.has(1)).isFalse();
      append(journal, 1);
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(whole);
  }

  @Test
  void aChangedByteDropsItsChunk() throws IOException {
    try (EmbeddingJournal journal = open("a")) {
      append(journal, 0);
    }
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 1] ^= 1;
    Files.write(file, bytes, StandardOpenOption.TRUNCATE_EXISTING);
    try (EmbeddingJournal journal = open("a")) {
      assertThat(journal.rowsDone()).isZero();
    }
  }

  @Test
  void aJournalOfOtherTextsIsBegunAnew() throws IOException {
    try (EmbeddingJournal journal = open("a")) {
      append(journal, 0);
    }
    try (EmbeddingJournal journal = open("b")) {
      assertThat(journal.rowsDone()).isZero();
    }
  }

  @Test
  void aDiscardedJournalLeavesNoFile() throws IOException {
    try (EmbeddingJournal journal = open("a")) {
      append(journal, 0);
      journal.discard();
    }
    assertThat(file).doesNotExist();
  }
}
