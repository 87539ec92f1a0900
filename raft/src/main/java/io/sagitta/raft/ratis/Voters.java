// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.Peer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftConfiguration;

/**
 * A configuration of a group: who votes. Listeners are left out.
 *
 * @param current who votes now
 * @param previous who voted before, while the configuration is joint; otherwise empty
 * @param logIndex the entry that set it
 */
record Voters(List<Peer> current, List<Peer> previous, long logIndex) {
  static Voters of(RaftConfiguration configuration) {
    return new Voters(
        peers(configuration.getCurrentPeers()),
        peers(configuration.getPreviousPeers()),
        configuration.getLogEntryIndex());
  }

  private static List<Peer> peers(Collection<RaftPeer> found) {
    if (found.isEmpty()) {
      return List.of();
    }
    List<Peer> peers = new ArrayList<>(found.size());
    for (RaftPeer peer : found) {
      peers.add(new Peer(peer.getId().toString(), peer.getAddress()));
    }
    return peers;
  }

  boolean isJoint() {
    return !previous.isEmpty();
  }

  boolean contains(String id) {
    return isAmong(current, id) || isAmong(previous, id);
  }

  private static boolean isAmong(List<Peer> voters, String id) {
    for (Peer voter : voters) {
      if (voter.id().equals(id)) {
        return true;
      }
    }
    return false;
  }

  /** All voters but one. */
  Collection<Peer> except(String id) {
    Set<Peer> others = new HashSet<>();
    for (List<Peer> voters : List.of(current, previous)) {
      for (Peer voter : voters) {
        if (!voter.id().equals(id)) {
          others.add(voter);
        }
      }
    }
    return others;
  }

  /** Whether these are a majority of the current voters and, while joint, also of the previous. */
  boolean haveMajority(Set<String> ids) {
    return missing(current, ids) == 0 && (previous.isEmpty() || missing(previous, ids) == 0);
  }

  /** How many more of the current voters are needed beside these. */
  int missing(Set<String> ids) {
    return missing(current, ids);
  }

  private static int missing(List<Peer> voters, Set<String> ids) {
    int yes = 0;
    for (Peer voter : voters) {
      if (ids.contains(voter.id())) {
        yes++;
      }
    }
    return Math.max(0, voters.size() / 2 + 1 - yes);
  }
}
