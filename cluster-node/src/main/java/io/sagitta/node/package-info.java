// SPDX-License-Identifier: Apache-2.0

/** The node process: {@code NodeMain}, {@code NodeConfig}, {@code Node}, where parts are wired. */
package io.sagitta.node;
