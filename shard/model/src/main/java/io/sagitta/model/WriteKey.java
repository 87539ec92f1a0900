// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * What makes a write take effect once on a shard.
 *
 * @param writer who writes
 * @param seq the writer's number of the batch, growing from 0
 * @param ackedBelow the writer has the outcomes of all sequence numbers below and will not ask
 *     again
 * @param piece place of this entry among those its batch was cut into for this shard, from 0
 */
public record WriteKey(WriterId writer, long seq, long ackedBelow, int piece) {
  public WriteKey {
    if (seq < 0 || ackedBelow < 0 || ackedBelow > seq || piece < 0) {
      throw SagittaException.invalid(
          "bad write key: seq "
              + seq
              + ", acked_below "
              + ackedBelow
              + ", piece "
              + piece
              + "; expected 0 <= acked_below <= seq");
    }
  }
}
