// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.model.Metric;
import io.sagitta.shard.distance.NativeMemory;
import io.sagitta.shard.distance.ScanTable;
import io.sagitta.shard.distance.SubspaceQuantizer;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/**
 * Beside each row's links on level 0, what its neighbours are like: for each link a few dozen
 * nibbles that code how the neighbour differs from the row. A walk that knows a row's distance
 * estimates by them, for all neighbours at once and in memory that it reads from front to back,
 * which can be near enough to be wanted, and fetches the codes of those alone. The estimates choose
 * what is looked at and nothing else: rows are ordered by their own codes, as without. So the
 * recall at one effort is nearly the same, for half the rows scored or less.
 *
 * <p>Worth its memory where a row's own code is a line or two and walks are long, as on word
 * vectors of 100 components. At 384 components it gains nothing: runs of components cannot tell the
 * points of a cluster apart well enough.
 *
 * <p>With {@code a} a row, {@code b} its neighbour and {@code q} the query, distances under cosine
 * and dot are linear in the row: {@code d(q, b) = d(q, a) - w . (b - a)}, where {@code w} depends
 * on the query alone, see {@link GraphSpace#weights}. Under l2 they are not: the squared lengths of
 * rows would have to be coded too, and where lengths differ much (outliers) that costs recall.
 *
 * <p>The links it was made for must not change after.
 */
final class NeighbourCodes extends Counted {
  /** Codes of more lines than this cost more to scan than they spare. */
  static final int ROW_BYTES_MAX = 2 * 64;

  /** Rows whose neighbours the quantizer is trained on. */
  private static final int SAMPLES = 24_000;

  private static final long SEED = 0x51de5ca9L;

  /**
   * How many deviations of the estimate's error a neighbour may be farther than what is wanted, and
   * is still looked at.
   */
  private static final float MARGIN = 0.3f;

  final SubspaceQuantizer quantizer;

  /** Error of the estimate for a weight vector of length 1. */
  final float deviation;

  private final Region region;
  private final long at;
  private final long stride;

  NeighbourCodes(SubspaceQuantizer quantizer, float deviation, Region region) {
    this.quantizer = quantizer;
    this.deviation = deviation;
    this.region = region;
    this.at = region.address();
    this.stride = stride(quantizer.runs());
  }

  private static long stride(int runs) {
    return 2L * ScanTable.groupBytes(runs);
  }

  /** Bytes for so many rows. */
  static long bytes(IndexParameters parameters, int rows) {
    return rows * stride(SubspaceQuantizer.runs(parameters.dimension()));
  }

  /** Whether they may pay for vectors of this kind. */
  static boolean mayPay(IndexParameters parameters) {
    return (parameters.metric() == Metric.COSINE || parameters.metric() == Metric.DOT)
        && parameters.links() == ScanTable.GROUP
        && GraphMemory.layout(parameters).stride() <= ROW_BYTES_MAX;
  }

  /** Trains on a sample of the links there are; codes are still to be written by {@link Coder}. */
  static NeighbourCodes train(GraphMemory memory, int size, StopCheck stop) {
    int dimension = memory.parameters.dimension();
    SplittableRandom random = new SplittableRandom(SEED);
    Coder coder = new Coder(memory, null);
    float[] samples = new float[SAMPLES * dimension];
    int count = 0;
    for (int i = 0; i < SAMPLES; i++) {
      stop.check();
      int row = random.nextInt(size);
      int links = memory.isAbsent(row) ? 0 : GraphMemory.length(memory.list(row, 0), memory.width);
      if (links > 0) {
        coder.readRow(row);
        coder.difference(NativeMemory.intAt(memory.list(row, 0) + 4L * random.nextInt(links)));
        System.arraycopy(coder.difference, 0, samples, count++ * dimension, dimension);
      }
    }
    if (count == 0) {
      return null;
    }
    SubspaceQuantizer quantizer = SubspaceQuantizer.train(dimension, samples, count);
    double error = 0;
    byte[] codes = new byte[quantizer.runs()];
    float[] room = new float[SubspaceQuantizer.CENTROIDS];
    for (int i = 0; i < count; i++) {
      System.arraycopy(samples, i * dimension, coder.difference, 0, dimension);
      quantizer.encode(coder.difference, codes, room);
      error += quantizer.squaredError(coder.difference, codes);
    }
    float deviation = (float) Math.sqrt(error / count / dimension);
    return new NeighbourCodes(
        quantizer, deviation, Region.allocate(size * stride(quantizer.runs())));
  }

  /** Writes the codes of rows, each once; one a thread. */
  static final class Coder {
    private final GraphMemory memory;
    private final NeighbourCodes target;
    private final float[] row;
    private final float[] neighbour;
    private final float[] difference;
    private final byte[] codes;
    private final float[] room = new float[SubspaceQuantizer.CENTROIDS];

    Coder(GraphMemory memory, NeighbourCodes target) {
      int dimension = memory.parameters.dimension();
      this.memory = memory;
      this.target = target;
      this.row = new float[dimension];
      this.neighbour = new float[dimension];
      this.difference = new float[dimension];
      this.codes = new byte[SubspaceQuantizer.runs(dimension)];
    }

    private void readRow(int ordinal) {
      memory.rows.decode(ordinal, row);
    }

    private void difference(int ordinal) {
      memory.rows.decode(ordinal, neighbour);
      for (int i = 0; i < difference.length; i++) {
        difference[i] = neighbour[i] - row[i];
      }
    }

    void write(int ordinal) {
      if (memory.isAbsent(ordinal)) {
        return;
      }
      readRow(ordinal);
      long list = memory.list(ordinal, 0);
      int links = GraphMemory.length(list, memory.width);
      int runs = target.quantizer.runs();
      for (int i = 0; i < links; i++) {
        difference(NativeMemory.intAt(list + 4L * i));
        target.quantizer.encode(difference, codes, room);
        long group =
            target.address(ordinal) + (long) (i / ScanTable.GROUP) * ScanTable.groupBytes(runs);
        ScanTable.putCodes(group, i % ScanTable.GROUP, codes, runs);
      }
    }
  }

  /** Where a row's codes begin. */
  long address(int row) {
    return at + row * stride;
  }

  /** Bytes from row to row. */
  long stride() {
    return stride;
  }

  long bytes() {
    return region.bytes();
  }

  MemorySegment memory() {
    return region.memory();
  }

  /** By how much a neighbour may be estimated too far: for queries of this weight. */
  float slack(float weight) {
    return MARGIN * deviation * weight;
  }

  @Override
  void free() {
    region.release();
  }
}
