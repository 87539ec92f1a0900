// SPDX-License-Identifier: Apache-2.0

/**
 * Project rules as tests; a failing rule says what to use instead. {@link
 * io.sagitta.it.architecture.ProductionCode} is what they look at: the compiled classes of all
 * modules, without tests and generated code. {@link io.sagitta.it.architecture.ImportDirectionTest}
 * is the module table of ARCHITECTURE.md.
 */
package io.sagitta.it.architecture;
