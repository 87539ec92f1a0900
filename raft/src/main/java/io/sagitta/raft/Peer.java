// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/**
 * A member of a group.
 *
 * @param id identity of its data folder; a wiped disk is another peer
 * @param address host:port of its Raft server for this kind of group
 */
public record Peer(String id, String address) {}
