// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sagitta.ops.bench.engine.RecallCurve.Figures;
import io.sagitta.ops.bench.engine.RecallCurve.Point;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecallCurveTest {
  private static final RecallCurve CURVE =
      new RecallCurve(
          List.of(
              new Point(40, 0.96, 1_000, 4_000, Double.NaN, 0),
              new Point(10, 0.80, 8_000, 500, Double.NaN, 0),
              new Point(20, 0.92, 4_000, 1_000, Double.NaN, 0)));

  @Test
  void aFigureBetweenTwoEffortsIsInterpolatedInItsLogarithm() {
    Figures figures = CURVE.at(0.94).orElseThrow();
    assertThat(figures.qps()).isCloseTo(2_000, within(1e-6));
    assertThat(figures.visited()).isCloseTo(2_000, within(1e-6));
    assertThat(figures.ef()).isCloseTo(Math.sqrt(800), within(1e-9));
    assertThat(figures.atLeast()).isFalse();
    assertThat(CURVE.at(0.83).orElseThrow().qps())
        .isCloseTo(8_000 * Math.pow(0.5, 0.25), within(1e-6));
  }

  @Test
  void aFigureThatIsZeroOrUnknownStaysSo() {
    Figures figures = CURVE.at(0.94).orElseThrow();
    assertThat(figures.allocated()).isZero();
    assertThat(figures.bytes()).isNaN();
  }

  @Test
  void aMeasuredRecallGivesItsOwnFigures() {
    assertThat(CURVE.at(0.92).orElseThrow().qps()).isCloseTo(4_000, within(1e-6));
    assertThat(CURVE.at(0.96).orElseThrow().qps()).isCloseTo(1_000, within(1e-6));
  }

  @Test
  void aRecallBelowTheLeastEffortGetsThatEffortsFiguresAndSaysSo() {
    Figures figures = CURVE.at(0.5).orElseThrow();
    assertThat(figures.qps()).isEqualTo(8_000);
    assertThat(figures.recall()).isEqualTo(0.80);
    assertThat(figures.atLeast()).isTrue();
  }

  @Test
  void aRecallOutOfReachHasNoFigures() {
    assertThat(CURVE.at(0.961)).isEmpty();
    assertThat(new RecallCurve(List.of()).at(0.1)).isEmpty();
  }

  @Test
  void aSpreadIsTheMiddleTheLeastAndTheGreatest() {
    assertThat(Spread.of(3, 1, 2)).isEqualTo(new Spread(2, 1, 3));
    assertThat(Spread.of(4, 1, 2, 3)).isEqualTo(new Spread(2.5, 1, 4));
    assertThat(Spread.of(7)).isEqualTo(new Spread(7, 7, 7));
  }
}
