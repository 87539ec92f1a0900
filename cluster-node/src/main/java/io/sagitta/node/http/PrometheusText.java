// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.http;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.Histogram;
import com.codahale.metrics.Meter;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Snapshot;
import com.codahale.metrics.Timer;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A Dropwizard registry as Prometheus text, version 0.0.4.
 *
 * <p>A metric's name is a Prometheus name, or one followed by labels in braces that the code wrote
 * ({@code sagitta_requests_total{verb="search"}}); labels are of fixed sets, so the number of
 * series is bounded by the code. Names that end in {@code _total} are counters, all others gauges;
 * timers and histograms are summaries, timers in seconds.
 */
public final class PrometheusText {
  private static final double NANOS = 1e-9;

  private PrometheusText() {}

  /** The whole page. */
  public static String of(MetricRegistry registry) {
    SortedMap<String, StringBuilder> families = new TreeMap<>();
    registry
        .getGauges()
        .forEach(
            (name, gauge) -> {
              Double value = number(gauge);
              if (value != null) {
                line(family(families, name, simple(name)), name, "", value);
              }
            });
    registry
        .getCounters()
        .forEach(
            (name, counter) ->
                line(family(families, name, simple(name)), name, "", counted(counter)));
    registry
        .getMeters()
        .forEach((name, meter) -> line(family(families, name, "counter"), name, "", marked(meter)));
    registry
        .getTimers()
        .forEach((name, timer) -> timer(family(families, name, "summary"), name, timer));
    registry
        .getHistograms()
        .forEach(
            (name, histogram) -> histogram(family(families, name, "summary"), name, histogram));
    StringBuilder page = new StringBuilder();
    for (Map.Entry<String, StringBuilder> family : families.entrySet()) {
      page.append(family.getValue());
    }
    return page.toString();
  }

  private static double counted(Counter counter) {
    return (double) counter.getCount();
  }

  private static double marked(Meter meter) {
    return (double) meter.getCount();
  }

  private static Double number(Gauge<?> gauge) {
    return gauge.getValue() instanceof Number number ? Double.valueOf(number.doubleValue()) : null;
  }

  private static void timer(StringBuilder out, String name, Timer timer) {
    summary(out, name, timer.getSnapshot(), NANOS);
    line(out, name, "_count", (double) timer.getCount());
  }

  private static void histogram(StringBuilder out, String name, Histogram histogram) {
    summary(out, name, histogram.getSnapshot(), 1);
    line(out, name, "_count", (double) histogram.getCount());
  }

  private static void summary(StringBuilder out, String name, Snapshot snapshot, double unit) {
    double[] quantiles = {0.5, 0.95, 0.99, 0.999};
    for (double quantile : quantiles) {
      line(
          out,
          withLabel(name, "quantile=\"" + quantile + "\""),
          "",
          snapshot.getValue(quantile) * unit);
    }
  }

  private static StringBuilder family(
      SortedMap<String, StringBuilder> families, String name, String type) {
    String base = base(name);
    return families.computeIfAbsent(
        base,
        unused ->
            new StringBuilder()
                .append("# TYPE ")
                .append(base)
                .append(' ')
                .append(type)
                .append('\n'));
  }

  private static String simple(String name) {
    return base(name).endsWith("_total") ? "counter" : "gauge";
  }

  private static void line(StringBuilder out, String name, String suffix, double value) {
    String base = base(name);
    out.append(base).append(suffix).append(name, base.length(), name.length()).append(' ');
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      out.append((long) value);
    } else {
      out.append(String.format(Locale.ROOT, "%.6g", value));
    }
    out.append('\n');
  }

  private static String base(String name) {
    int brace = name.indexOf('{');
    return brace < 0 ? name : name.substring(0, brace);
  }

  private static String withLabel(String name, String label) {
    int brace = name.indexOf('{');
    return brace < 0
        ? name + "{" + label + "}"
        : name.substring(0, name.length() - 1) + "," + label + "}";
  }
}
