// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import io.sagitta.model.ErrorCode;
import io.sagitta.node.placement.proto.MetadataReply;
import java.util.HexFormat;

/** What came of asking a replica for the digest of its live rows. */
public sealed interface ReplicaDigest {

  /**
   * It was read.
   *
   * @param index log index of the view the digest was taken of
   * @param rows live rows
   * @param digest over their ids, versions, vectors and payload; hexadecimal
   */
  record Taken(long index, long rows, String digest) implements ReplicaDigest {}

  /**
   * Its files are damaged, so that it does not run.
   *
   * @param cause names the file
   */
  record Damaged(String cause) implements ReplicaDigest {}

  /** Its node did not answer, or not in time. */
  record Unreachable(String cause) implements ReplicaDigest {}

  /**
   * Its node answered, but has no digest of it now: it starts, is behind, has stopped.
   *
   * @param code of the refusal
   */
  record Unavailable(ErrorCode code, String cause) implements ReplicaDigest {}

  /** A node's answer to {@code GetDigest}. */
  static ReplicaDigest of(MetadataReply reply) {
    if (!reply.hasFailure()) {
      MetadataReply.Digest taken = reply.getDigest();
      return new Taken(
          taken.getIndex(),
          taken.getRows(),
          HexFormat.of().formatHex(taken.getDigest().toByteArray()));
    }
    String cause = reply.getFailure().getMessage();
    ErrorCode code = ErrorCode.valueOf(reply.getFailure().getCode());
    return code == ErrorCode.CORRUPT ? new Damaged(cause) : new Unavailable(code, cause);
  }
}
