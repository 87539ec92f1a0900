// SPDX-License-Identifier: Apache-2.0

/**
 * The node's faces to the other modules: what the router asks of it ({@link
 * io.sagitta.node.service.NodeMetadata}), what other nodes ask of it ({@link
 * io.sagitta.node.service.NodeInternals}), what Raft asks of other nodes ({@link
 * io.sagitta.node.service.RaftPeers}), what people ask ({@link
 * io.sagitta.node.service.StatusJson}). Each only joins parts that live elsewhere.
 */
package io.sagitta.node.service;
