// SPDX-License-Identifier: Apache-2.0

/** Demo, benchmark lanes and chaos drivers. */
package io.sagitta.ops.bench;
