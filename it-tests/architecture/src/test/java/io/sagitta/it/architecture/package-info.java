// SPDX-License-Identifier: Apache-2.0

/** Project rules as tests that say what to use instead. */
package io.sagitta.it.architecture;
