// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.hnsw;

import io.sagitta.model.Metric;
import io.sagitta.shard.distance.CodeRows;
import io.sagitta.shard.distance.QueryPlanes;
import io.sagitta.shard.distance.VectorRows;

/**
 * From a vector as stored to what an index encodes and compares: of length 1 under cosine, less the
 * index's centre, rotated. Immutable.
 *
 * <p>Distances: under cosine and l2 the squared length of the difference, which needs neither the
 * centre nor, for cosine, anything else, since between vectors of length 1 it is 2 - 2 cos; a row's
 * bias is its own squared length. Under dot the negative product; a row's bias is its product with
 * the centre. Under hamming the number of differing bits.
 */
final class GraphSpace {
  /**
   * Components are cut off here, so that no estimate of 16,384 of them overflows. Rows that are
   * longer are estimated wrong, and scored right in the end.
   */
  private static final float COMPONENT_MAX = 0x1p50f;

  private final IndexParameters parameters;
  private final Rotation rotation;
  private final float[] centre;
  private final float[] rotatedCentre;
  private final float centreSquare;

  GraphSpace(IndexParameters parameters, float[] centre) {
    if (centre.length != parameters.dimension()) {
      throw new IllegalArgumentException(
          "centre of " + centre.length + " components, expected " + parameters.dimension());
    }
    this.parameters = parameters;
    this.rotation = parameters.bits() ? null : new Rotation(parameters.dimension());
    this.centre = centre.clone();
    this.rotatedCentre = centre.clone();
    clamp(rotatedCentre);
    if (rotation != null) {
      rotation.apply(rotatedCentre);
    }
    this.centreSquare = (float) dot(rotatedCentre, rotatedCentre);
  }

  float[] centre() {
    return centre.clone();
  }

  /** Brings a query's components, changed in place, into the space but for the centre. */
  static void prepare(IndexParameters parameters, Rotation rotation, float[] values) {
    if (parameters.metric() == Metric.COSINE) {
      normalize(values, parameters.dimension());
    }
    clamp(values);
    rotation.apply(values);
  }

  /** Encodes row {@code from} of {@code source}; {@code values} is room for one vector. */
  void encode(CodeRows rows, int ordinal, VectorRows source, int from, float[] values) {
    if (parameters.bits()) {
      rows.encodeBits(ordinal, source, from);
      return;
    }
    source.read(from, values);
    prepare(parameters, rotation, values);
    for (int i = 0; i < parameters.dimension(); i++) {
      values[i] -= rotatedCentre[i];
    }
    double bias = parameters.squared() ? dot(values, values) : dot(values, rotatedCentre);
    rows.encode(ordinal, values, (float) bias);
  }

  /** A query, prepared, as planes for this index; {@code values} is room for one vector. */
  void planes(CodeQuery query, float[] values, QueryPlanes out) {
    if (parameters.bits()) {
      out.setBits(query.prepared());
      return;
    }
    float[] prepared = query.prepared();
    if (parameters.squared()) {
      for (int i = 0; i < parameters.dimension(); i++) {
        values[i] = prepared[i] - rotatedCentre[i];
      }
      out.set(values, (float) dot(values, values), 1, 2);
    } else {
      out.set(prepared, (float) -dot(prepared, rotatedCentre), 0, 1);
    }
  }

  /** A row as a query of floats: what its 8 bits mean, against 4 bits or 8. */
  void planes(CodeRows rows, int ordinal, float[] values, QueryPlanes out) {
    if (parameters.bits()) {
      out.setBitRow(rows, ordinal);
      return;
    }
    rows.decode(ordinal, values);
    if (parameters.squared()) {
      out.set(values, (float) dot(values, values), 1, 2);
    } else {
      for (int i = 0; i < parameters.dimension(); i++) {
        values[i] += rotatedCentre[i];
      }
      out.set(values, (float) -dot(values, rotatedCentre), 0, 1);
    }
  }

  /**
   * Under cosine and dot, a query as weights in which distances are linear: {@code distance(q, b) -
   * distance(q, a) = -weights . (b - a)} for rows {@code a} and {@code b}. Between vectors of
   * length 1 the squared distance is {@code 2 - 2 q . b}.
   *
   * @return the length of the weights
   */
  float weights(CodeQuery query, float[] out) {
    float[] prepared = query.prepared();
    float scale =
        switch (parameters.metric()) {
          case COSINE -> 2;
          case DOT -> 1;
          case L2, HAMMING -> throw new IllegalStateException("not linear: " + parameters.metric());
        };
    for (int i = 0; i < parameters.dimension(); i++) {
      out[i] = scale * prepared[i];
    }
    return (float) Math.sqrt(dot(out, out));
  }

  /**
   * The point halfway between two rows as a query.
   *
   * @param room for one vector
   */
  void between(CodeRows rows, int one, int other, float[] room, CodeQuery out) {
    float[] point = out.prepared();
    rows.decode(one, point);
    rows.decode(other, room);
    for (int i = 0; i < parameters.dimension(); i++) {
      point[i] = (point[i] + room[i]) / 2 + rotatedCentre[i];
    }
    if (parameters.metric() == Metric.COSINE) {
      normalize(point, parameters.dimension());
    }
  }

  /** A row's code itself as the query, against 8 bits: distances between rows. */
  void rowPlanes(CodeRows rows, int ordinal, QueryPlanes out) {
    if (parameters.bits()) {
      out.setBitRow(rows, ordinal);
    } else if (parameters.squared()) {
      out.setRow(rows, ordinal, 0, 1, 1, 2);
    } else {
      out.setRow(rows, ordinal, -centreSquare, -1, -1, 1);
    }
  }

  private static void normalize(float[] values, int dimension) {
    double squares = dot(values, values);
    double inverse = squares > 0 ? 1 / Math.sqrt(squares) : 0;
    for (int i = 0; i < dimension; i++) {
      values[i] = (float) (values[i] * inverse);
    }
  }

  private static void clamp(float[] values) {
    for (int i = 0; i < values.length; i++) {
      values[i] = Math.clamp(values[i], -COMPONENT_MAX, COMPONENT_MAX);
    }
  }

  /** In four sums, which do not wait for each other. */
  private static double dot(float[] left, float[] right) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    int i = 0;
    for (; i + 4 <= left.length; i += 4) {
      a += (double) left[i] * right[i];
      b += (double) left[i + 1] * right[i + 1];
      c += (double) left[i + 2] * right[i + 2];
      d += (double) left[i + 3] * right[i + 3];
    }
    for (; i < left.length; i++) {
      a += (double) left[i] * right[i];
    }
    return a + b + (c + d);
  }
}
