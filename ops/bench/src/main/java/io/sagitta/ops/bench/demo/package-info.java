// SPDX-License-Identifier: Apache-2.0

/**
 * {@code sagitta demo}: three nodes, real data, questions in words, and a check of the answers by
 * brute force. Start with {@link io.sagitta.ops.bench.demo.DemoCommand}.
 */
package io.sagitta.ops.bench.demo;
