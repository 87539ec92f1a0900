// SPDX-License-Identifier: Apache-2.0

/** Services behind the public API. */
package io.sagitta.node.service;
