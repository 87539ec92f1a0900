// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import io.sagitta.model.filter.Predicate;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Points on the sphere of the mean earth radius. StrictMath, so that replicas on other machines
 * agree about points on an edge. Where one point has several coordinates it is one point:
 * longitudes 180 and -180 are the same, and at a pole all longitudes are.
 */
final class GeoColumns {
  /** IUGG mean radius R1. */
  private static final double EARTH_RADIUS_METRES = 6_371_008.8;

  private GeoColumns() {}

  /** Distance by the haversine formula, which is right near the poles and across 180°. */
  static double metres(double lat1, double lon1, double lat2, double lon2) {
    double halfLat = StrictMath.sin(StrictMath.toRadians(lat2 - lat1) / 2);
    double halfLon = StrictMath.sin(StrictMath.toRadians(lonBetween(lon1, lon2)) / 2);
    double h = halfLat * halfLat + cos(lat1) * cos(lat2) * halfLon * halfLon;
    return 2 * EARTH_RADIUS_METRES * StrictMath.asin(Math.min(1, StrictMath.sqrt(h)));
  }

  /** The shorter way round, 0..180 degrees: across 180 degrees it is 0 and not nearly so. */
  private static double lonBetween(double lon1, double lon2) {
    double way = Math.abs(lon2 - lon1);
    return way > 180 ? 360 - way : way;
  }

  /**
   * Of degrees of latitude: at a pole 0 and not nearly so, where pi / 2 has no double of its own.
   */
  private static double cos(double lat) {
    return isPole(lat) ? 0 : StrictMath.cos(StrictMath.toRadians(lat));
  }

  private static boolean isPole(double lat) {
    return Math.abs(lat) == 90;
  }

  static boolean inBox(Predicate.GeoBox box, double lat, double lon) {
    return lat <= box.top()
        && lat >= box.bottom()
        && (isPole(lat)
            || inLongitudes(box, lon)
            || (Math.abs(lon) == 180 && inLongitudes(box, -lon)));
  }

  private static boolean inLongitudes(Predicate.GeoBox box, double lon) {
    return box.left() <= box.right()
        ? lon >= box.left() && lon <= box.right()
        : lon >= box.left() || lon <= box.right();
  }

  static Truths within(FieldVector vector, Predicate.GeoWithin within, int rows) {
    return each(
        vector,
        rows,
        (lat, lon) -> metres(within.lat(), within.lon(), lat, lon) <= within.metres());
  }

  static Truths box(FieldVector vector, Predicate.GeoBox box, int rows) {
    return each(vector, rows, (lat, lon) -> inBox(box, lat, lon));
  }

  /** A test of a point. */
  private interface PointTest {
    boolean holds(double lat, double lon);
  }

  private static Truths each(FieldVector vector, int rows, PointTest test) {
    StructVector points = (StructVector) vector;
    Float8Vector lat = (Float8Vector) points.getChild("lat");
    Float8Vector lon = (Float8Vector) points.getChild("lon");
    return Truths.of(points, rows, row -> test.holds(lat.get(row), lon.get(row)));
  }
}
