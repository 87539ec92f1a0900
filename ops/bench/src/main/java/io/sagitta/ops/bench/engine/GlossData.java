// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.ops.bench.wordnet.Gloss;
import io.sagitta.ops.bench.wordnet.GlossCollection;
import io.sagitta.ops.bench.wordnet.GlossEmbedder;
import io.sagitta.ops.bench.wordnet.TextVectors;
import io.sagitta.ops.bench.wordnet.WordNet;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Real text embeddings: all-MiniLM-L6-v2 (quantised), 384 dimensions, over the glosses of all of
 * WordNet 3.1, about 117,800 of them. 5,000 glosses drawn by a fixed seed are held out.
 *
 * <p>Foreign queries are 5,000 short questions made from lemmas ("What is a windmill?", "What does
 * it mean to windmill?"), embedded by the same model: no row is a question, and a word alone is not
 * its definition.
 */
record GlossData() implements DataSet.Source {
  private static final int HELD_OUT = 5_000;
  private static final int QUESTIONS = 5_000;
  private static final long SEED = 117;

  @Override
  public String name() {
    return "minilm-384";
  }

  @Override
  public int dimension() {
    return GlossEmbedder.DIMENSION;
  }

  @Override
  public void write(DataSet.Outputs files, PrintStream log)
      throws IOException, InterruptedException {
    GlossCollection glosses = GlossCollection.load(WordNet.ALL_CATEGORIES, log);
    SplittableRandom random = new SplittableRandom(SEED);
    int rows = glosses.glosses().size();
    boolean[] heldOut = new boolean[rows];
    for (int drawn = 0; drawn < HELD_OUT; ) {
      int row = random.nextInt(rows);
      if (!heldOut[row]) {
        heldOut[row] = true;
        drawn++;
      }
    }
    for (int row = 0; row < rows; row++) {
      float[] vector = unit(glosses.vectors()[row]);
      (heldOut[row] ? files.heldOut() : files.base()).add(vector);
    }
    List<String> questions = new ArrayList<>(QUESTIONS);
    for (int i = 0; i < QUESTIONS; i++) {
      questions.add(question(glosses.glosses().get(random.nextInt(rows))));
    }
    float[][] asked =
        TextVectors.embed(
            DataSet.folder().resolve("questions.part"),
            GlossEmbedder.MODEL + " questions of lemmas, seed " + SEED,
            questions,
            log,
            made -> {});
    for (float[] vector : asked) {
      files.foreign().add(unit(vector));
    }
  }

  private static float[] unit(float[] vector) throws IOException {
    float[] copy = vector.clone();
    if (!UnitVectors.normalise(copy)) {
      throw new IOException("an embedding is zero");
    }
    return copy;
  }

  private static String question(Gloss gloss) {
    String lemmas = gloss.lemmas();
    int comma = lemmas.indexOf(", ");
    String lemma = comma < 0 ? lemmas : lemmas.substring(0, comma);
    return switch (gloss.partOfSpeech()) {
      case "verb" -> "What does it mean to " + lemma + "?";
      case "noun" -> "What is a " + lemma + "?";
      default -> "What does " + lemma + " mean?";
    };
  }
}
