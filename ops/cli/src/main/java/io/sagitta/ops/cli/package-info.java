// SPDX-License-Identifier: Apache-2.0

/** Admin CLI. */
package io.sagitta.ops.cli;
