// SPDX-License-Identifier: Apache-2.0

/** Distance kernels: scalar reference and Vector API twin; codes and exact rerank. */
package io.sagitta.shard.distance;
