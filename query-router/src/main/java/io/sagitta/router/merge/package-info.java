// SPDX-License-Identifier: Apache-2.0

/** Top-k merge and fusion of legs. */
package io.sagitta.router.merge;
