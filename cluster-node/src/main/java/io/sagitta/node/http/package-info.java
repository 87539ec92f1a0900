// SPDX-License-Identifier: Apache-2.0

/**
 * Operations HTTP on its own port: {@code /livez}, {@code /readyz}, {@code /metrics}, and nothing
 * else. No user data and no text that a user gave ever leaves here, so the port needs no
 * credentials.
 *
 * <p>Invariants: a request has at most 8 KiB of head and no body; at most 64 connections, each
 * closed after 10 idle seconds; the series of {@code /metrics} are bounded whatever users do. Start
 * with {@link io.sagitta.node.http.OpsHttp}. REST and console will be a port of their own.
 */
package io.sagitta.node.http;
