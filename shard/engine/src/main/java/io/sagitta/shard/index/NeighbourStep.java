// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.index;

import io.sagitta.shard.hnsw.Calibration;
import io.sagitta.shard.hnsw.IndexParameters;
import io.sagitta.shard.hnsw.NeighbourCoding;
import io.sagitta.shard.hnsw.NeighbourTrial;
import io.sagitta.shard.hnsw.StopCheck;
import io.sagitta.shard.hnsw.Traversal;
import io.sagitta.shard.hnsw.VectorIndex;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a graph that holds all its rows codes of their neighbours, where a measurement says that
 * they pay. Searches get faster and find the same, so the graph's calibration stays.
 */
final class NeighbourStep {
  private static final Logger LOG = LoggerFactory.getLogger(NeighbourStep.class);

  /** The search that is tried. */
  private static final int K = 10;

  private static final double RECALL = 0.95;

  private final FieldIndex target;
  private final IndexingOptions options;
  private final int rowsMin;
  private final StopCheck stop;

  /**
   * The step for one graph.
   *
   * @param rowsMin a graph over fewer rows goes without
   */
  NeighbourStep(FieldIndex target, int rowsMin, IndexingOptions options, StopCheck stop) {
    this.target = target;
    this.rowsMin = rowsMin;
    this.options = options;
    this.stop = stop;
  }

  /** Bytes that it takes; 0 where codes of neighbours cannot pay. */
  long bytesNeeded() {
    IndexParameters parameters = target.index().parameters();
    int rows = target.index().size();
    return rows >= rowsMin && NeighbourCoding.mayPay(parameters) && trialEffort().isPresent()
        ? NeighbourCoding.bytes(parameters, rows)
        : 0;
  }

  private Optional<Calibration.Choice> trialEffort() {
    return target
        .calibration()
        .flatMap(calibration -> calibration.choose(K, RECALL, target.index().size()))
        .filter(choice -> choice.effort().traversal() == Traversal.FOUR);
  }

  /** Takes it; some seconds for 100,000 rows. */
  void take() {
    VectorIndex index = target.index();
    try (NeighbourCoding coding = NeighbourCoding.begin(index, stop).orElse(null)) {
      if (coding == null) {
        return;
      }
      ParallelRows.run(
          () -> writer(coding), 0, index.size(), options.workers(), options.executor());
      stop.check();
      coding.show();
      NeighbourTrial.Outcome outcome =
          new NeighbourTrial(index, trialEffort().orElseThrow().effort(), options.cpuTime(), stop)
              .run();
      if (!outcome.pays()) {
        coding.hide();
      }
      LOG.info(
          "segment {}, {}: with codes of neighbours searches are {} times as fast and find {} less:"
              + " {}",
          target.segment(),
          target.field().name(),
          String.format("%.2f", outcome.gain()),
          String.format("%.4f", outcome.loss()),
          outcome.pays() ? "kept" : "dropped");
    }
  }

  /** Stops quietly: whoever waits for the workers asks again. */
  private IntConsumer writer(NeighbourCoding coding) {
    NeighbourCoding.Writer writer = coding.writer();
    return row -> {
      if (!stopped()) {
        writer.write(row);
      }
    };
  }

  private boolean stopped() {
    try {
      stop.check();
      return false;
    } catch (IndexingStopped e) {
      return true;
    }
  }
}
