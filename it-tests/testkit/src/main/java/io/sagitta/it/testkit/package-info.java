// SPDX-License-Identifier: Apache-2.0

/**
 * What tests of every module share: seeds, clocks and other fixtures. It imports no other module,
 * so that every module can test with it. Start at {@link io.sagitta.it.testkit.Seeded}.
 */
package io.sagitta.it.testkit;
