// SPDX-License-Identifier: Apache-2.0

/** Seeds, clocks and other fixtures for tests. */
package io.sagitta.it.testkit;
