// SPDX-License-Identifier: Apache-2.0

/** Values that every module speaks of: ids, schema, filter, shard map, commands. */
package io.sagitta.model;
