// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import io.sagitta.ops.bench.Progress;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * all-MiniLM-L6-v2 (quantised, ONNX, from its jar): text to 384 float32 components of unit length.
 */
public final class GlossEmbedder {
  public static final int DIMENSION = 384;
  public static final String MODEL = "all-MiniLM-L6-v2-q";

  // The model's own parallelism splits one call over threads; one thread a text is faster.
  private final AllMiniLmL6V2QuantizedEmbeddingModel model =
      new AllMiniLmL6V2QuantizedEmbeddingModel(Runnable::run);

  /** The vector of one text. */
  public float[] embed(String text) {
    return model.embed(text).content().vector();
  }

  /**
   * Embeds on all cores what the journal does not have yet, a chunk at a time; afterwards it has
   * all.
   */
  void embedAll(List<String> texts, EmbeddingJournal journal, Progress progress)
      throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    AtomicInteger done = new AtomicInteger(journal.rowsDone());
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread[] workers = new Thread[Runtime.getRuntime().availableProcessors()];
    for (int w = 0; w < workers.length; w++) {
      workers[w] =
          Thread.ofPlatform()
              .name("embed-" + w)
              .daemon()
              .start(
                  () -> {
                    try {
                      for (int chunk; (chunk = next.getAndIncrement()) < journal.chunks(); ) {
                        if (!journal.has(chunk)) {
                          embed(texts, journal, chunk, done, progress);
                        }
                      }
                    } catch (IOException | RuntimeException | Error e) {
                      failure.compareAndSet(null, e);
                      next.set(journal.chunks());
                    }
                  });
    }
    for (Thread worker : workers) {
      worker.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException("embedding failed", failure.get());
    }
  }

  private void embed(
      List<String> texts,
      EmbeddingJournal journal,
      int chunk,
      AtomicInteger done,
      Progress progress)
      throws IOException {
    float[][] vectors = new float[journal.rowsOf(chunk)][];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = embed(texts.get(journal.firstRow(chunk) + i));
      progress.at(done.incrementAndGet());
    }
    journal.append(chunk, vectors);
  }
}
