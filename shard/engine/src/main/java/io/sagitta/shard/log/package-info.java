// SPDX-License-Identifier: Apache-2.0

/** Shard commands to log entries and back. */
package io.sagitta.shard.log;
