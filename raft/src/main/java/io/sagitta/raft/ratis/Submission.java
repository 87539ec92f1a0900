// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.LogPosition;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.OutcomeUnknown;
import io.sagitta.raft.RaftHost.Committed;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * One proposed entry on its way. It rides through Ratis as the state machine's context of the
 * transaction, so that the two questions that matter are answered by what happened and not by the
 * class of an exception: was it appended (perhaps), and what came out of it.
 *
 * <p>Ratis answers NotLeaderException both to requests that it refused and to requests that it had
 * appended when it lost the leadership. Only an entry that never reached {@link #appending}, which
 * Ratis calls under the log's lock right before it appends, is certainly not in the log.
 */
final class Submission {
  final long callId;
  final int bytes;
  final long sinceNanos;
  private final CompletableFuture<Committed> result = new CompletableFuture<>();
  private final Executor completions;
  private volatile boolean appending;

  Submission(long callId, int bytes, long sinceNanos, Executor completions) {
    this.callId = callId;
    this.bytes = bytes;
    this.sinceNanos = sinceNanos;
    this.completions = completions;
  }

  CompletableFuture<Committed> result() {
    return result;
  }

  void appending() {
    appending = true;
  }

  /** Applied here, thus committed. Never runs the caller's code on the apply thread. */
  void applied(LogPosition at, byte[] outcome) {
    Committed committed = new Committed(at, outcome);
    completions.execute(() -> result.complete(committed));
  }

  /** Ratis is through with the request and it failed. */
  void failed(String group, Throwable cause) {
    RuntimeException failure =
        appending
            ? new OutcomeUnknown(
                "group " + group + ": leadership was lost after the entry was appended", cause)
            : new NotLeader("group " + group + ": not appended: " + cause.getMessage(), cause);
    completions.execute(() -> result.completeExceptionally(failure));
  }

  /** Nobody waits any longer; whatever becomes of it counts as in flight until Ratis answers. */
  void timedOut(String group, long ms) {
    if (!result.isDone()) {
      RuntimeException failure =
          new OutcomeUnknown("group " + group + ": no outcome after " + ms + " ms");
      completions.execute(() -> result.completeExceptionally(failure));
    }
  }
}
