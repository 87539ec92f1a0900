// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.util.Arrays;

/** Rows and the kind of queries asked of them. */
enum Lane {
  GLOVE_100("glove-100", new GloveData(), false),
  MINILM_384("minilm-384", new GlossData(), false),
  HARD_384("hard-384", ClusterData.HARD_384, false),
  OOD_100("ood-100", new GloveData(), true),
  OOD_384("ood-384", new GlossData(), true);

  private final String id;

  @SuppressWarnings("ImmutableEnumChecker") // sources are records of constants
  private final DataSet.Source source;

  private final boolean foreign;

  Lane(String id, DataSet.Source source, boolean foreign) {
    this.id = id;
    this.source = source;
    this.foreign = foreign;
  }

  /** The lane of a name. */
  static Lane of(String id) {
    return Arrays.stream(values())
        .filter(lane -> lane.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no lane '" + id + "'"));
  }

  /** Name in options and reports. */
  String id() {
    return id;
  }

  @Override
  public String toString() {
    return id;
  }

  DataSet.Source source() {
    return source;
  }

  /** Vectors that queries are drawn from. */
  VectorFile pool(DataSet data) {
    return foreign ? data.foreign() : data.heldOut();
  }
}
