// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.FilterText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * A random filter over {@code n} and {@code s}, and what it says of a point by SQL's three values.
 */
final class RandomFilter {
  private final RandomGenerator random;
  private final List<Object> params = new ArrayList<>();

  private RandomFilter(RandomGenerator random) {
    this.random = random;
  }

  /**
   * A filter.
   *
   * @param matches whether it is true of a point
   */
  record Case(FilterText text, Predicate<ShardModel.Point> matches) {}

  private record Part(String text, Function<ShardModel.Point, Boolean> truth) {}

  static Case draw(RandomGenerator random) {
    RandomFilter filter = new RandomFilter(random);
    Part part = filter.part(2);
    return new Case(
        new FilterText(part.text, filter.params),
        point -> Boolean.TRUE.equals(part.truth.apply(point)));
  }

  private Part part(int depth) {
    if (depth > 0) {
      switch (random.nextInt(4)) {
        case 0 -> {
          Part left = part(depth - 1);
          Part right = part(depth - 1);
          return new Part(
              "(" + left.text + " AND " + right.text + ")",
              point -> and(left.truth.apply(point), right.truth.apply(point)));
        }
        case 1 -> {
          Part left = part(depth - 1);
          Part right = part(depth - 1);
          return new Part(
              "(" + left.text + " OR " + right.text + ")",
              point -> not(and(not(left.truth.apply(point)), not(right.truth.apply(point)))));
        }
        case 2 -> {
          Part inner = part(depth - 1);
          return new Part("NOT (" + inner.text + ")", point -> not(inner.truth.apply(point)));
        }
        default -> {
          return leaf();
        }
      }
    }
    return leaf();
  }

  private Part leaf() {
    long bound = random.nextLong(-2, 4);
    String text = "abc".substring(random.nextInt(4));
    return switch (random.nextInt(6)) {
      case 0 -> new Part("n IS NULL", point -> number(point) == null);
      case 1 ->
          new Part("n > " + bound, point -> number(point) == null ? null : number(point) > bound);
      case 2 ->
          new Part(
              "n <= " + param(bound),
              point -> number(point) == null ? null : number(point) <= bound);
      case 3 ->
          new Part(
              "s = " + param(text), point -> text(point) == null ? null : text(point).equals(text));
      case 4 ->
          new Part(
              "n IN (0, " + bound + ")",
              point -> number(point) == null ? null : number(point) == 0 || number(point) == bound);
      default ->
          new Part(
              "s <> '" + text + "'",
              point -> text(point) == null ? null : !text(point).equals(text));
    };
  }

  private String param(Object value) {
    params.add(value);
    return "$" + params.size();
  }

  private static Boolean and(Boolean left, Boolean right) {
    if (Boolean.FALSE.equals(left) || Boolean.FALSE.equals(right)) {
      return false;
    }
    return left == null || right == null ? null : Boolean.TRUE;
  }

  private static Boolean not(Boolean value) {
    return value == null ? null : !value;
  }

  private static Long number(ShardModel.Point point) {
    Object value = point.values().get(RandomPoints.NUMBER);
    return value == null ? null : (Long) PlainRows.decode(value).getLong();
  }

  private static String text(ShardModel.Point point) {
    Object value = point.values().get(RandomPoints.TEXT);
    return value == null ? null : PlainRows.textOf(value);
  }
}
