// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.replica;

import io.sagitta.flight.FlightErrors;
import io.sagitta.flight.internal.NotLeaderException;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.NodeId;
import io.sagitta.model.SagittaException;
import io.sagitta.raft.NoSuchGroup;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.OutcomeUnknown;
import io.sagitta.raft.Overloaded;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;

/** What Raft failed with, in the words of the contract (docs/contract.md, section 6). */
final class RaftFailures {
  private RaftFailures() {}

  /**
   * The failure a caller may see.
   *
   * @param leader the leader as known here
   * @param write whether a timeout leaves an outcome unknown
   */
  static RuntimeException translate(Throwable failure, Optional<NodeId> leader, boolean write) {
    Throwable cause = FlightErrors.unwrap(failure);
    return switch (cause) {
      case SagittaException own -> own;
      case NotLeaderException own -> own;
      case NotLeader e -> new NotLeaderException(e.getMessage(), leader);
      case NoSuchGroup e -> new NotLeaderException(e.getMessage(), Optional.empty());
      case Overloaded e -> new SagittaException(ErrorCode.UNAVAILABLE, e.getMessage(), 50, e);
      case OutcomeUnknown e -> new SagittaException(ErrorCode.OUTCOME_UNKNOWN, e.getMessage(), e);
      case RejectedExecutionException e ->
          new SagittaException(
              ErrorCode.UNAVAILABLE, "too many reads are waiting (limits.search_queue)", 50, e);
      case TimeoutException e ->
          write
              ? new SagittaException(
                  ErrorCode.DEADLINE_EXCEEDED,
                  "the write was not acknowledged in time; it may still take effect",
                  e)
              : new SagittaException(ErrorCode.DEADLINE_EXCEEDED, "no answer in time", e);
      default -> new SagittaException(ErrorCode.INTERNAL, FlightErrors.BUG, cause);
    };
  }
}
