// SPDX-License-Identifier: Apache-2.0

/** JMH benchmarks of the kernels; each checks its answer. */
package io.sagitta.shard.bench;
