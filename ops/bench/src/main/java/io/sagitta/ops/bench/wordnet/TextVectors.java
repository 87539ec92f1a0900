// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

import io.sagitta.ops.bench.Progress;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/** Embeds many texts in a way that may be interrupted. */
public final class TextVectors {
  private TextVectors() {}

  /** Keeps the vectors for good. */
  @FunctionalInterface
  public interface Keeper {
    void keep(float[][] vectors) throws IOException;
  }

  /**
   * Embeds the texts on all cores, beginning with what an interrupted run left in the journal.
   *
   * @param journal file of what is done so far; removed once {@code keeper} has all
   * @param key names the texts and the model
   */
  public static float[][] embed(
      Path journal, String key, List<String> texts, PrintStream log, Keeper keeper)
      throws IOException, InterruptedException {
    try (EmbeddingJournal done =
        EmbeddingJournal.open(journal, key, texts.size(), GlossEmbedder.DIMENSION)) {
      Progress progress = new Progress(log, "embedding " + texts.size() + " texts", texts.size());
      new GlossEmbedder().embedAll(texts, done, progress);
      keeper.keep(done.vectors());
      done.discard();
      return done.vectors();
    }
  }
}
