// SPDX-License-Identifier: Apache-2.0

/** Netty HTTP endpoint: health, metrics, REST, console. */
package io.sagitta.node.http;
