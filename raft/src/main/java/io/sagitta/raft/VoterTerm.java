// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft;

/**
 * A voter's term of a group, as it says itself. Of use to a read only if it was read after the read
 * had been asked for.
 *
 * @param voter peer id
 */
public record VoterTerm(String voter, long term) {}
