// SPDX-License-Identifier: Apache-2.0

/** Shard-map cache and replica choice. */
package io.sagitta.router.routing;
