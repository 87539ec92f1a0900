// SPDX-License-Identifier: Apache-2.0

/** Golden files of every format version. */
package io.sagitta.it.compat;
