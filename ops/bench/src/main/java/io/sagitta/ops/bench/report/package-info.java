// SPDX-License-Identifier: Apache-2.0

/**
 * How demo, benchmarks and chaos drivers report: one object of figures, printed as JSON for
 * programs or as lines and tables for people. Start with {@link
 * io.sagitta.ops.bench.report.Report}.
 */
package io.sagitta.ops.bench.report;
