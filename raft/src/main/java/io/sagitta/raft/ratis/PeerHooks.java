// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import java.util.Optional;
import org.apache.ratis.protocol.RaftGroupId;

/** What the parts that Ratis makes need of the host. */
interface PeerHooks {

  Optional<HostedGroup> group(RaftGroupId group);

  InstallGate installs();

  /** Gives up this process's leadership of the group, as a cure; not more than once in a while. */
  void stepDown(HostedGroup group, String why);

  void appenderStarted(PrefetchingLogAppender appender);

  void appenderStopped(PrefetchingLogAppender appender);
}
