// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import io.sagitta.model.SagittaException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a batch of a put says of itself in its app_metadata: {@code {"seq": n, "acked_below": m}}.
 *
 * @param seq the writer's number of the batch
 * @param ackedBelow the writer has the outcomes of all batches below
 */
public record PutBatchTag(OptionalLong seq, OptionalLong ackedBelow) {
  private static final PutBatchTag NONE =
      new PutBatchTag(OptionalLong.empty(), OptionalLong.empty());
  private static final List<String> KEYS = List.of("seq", "acked_below");

  /**
   * Reads the tag of a batch.
   *
   * @param writer whether the put has a writer: then, and only then, a batch has a number
   * @throws SagittaException INVALID_ARGUMENT otherwise
   */
  public static PutBatchTag parse(Optional<byte[]> appMetadata, boolean writer) {
    if (appMetadata.isEmpty() || appMetadata.get().length == 0) {
      if (writer) {
        throw SagittaException.invalid(
            "a batch has no app_metadata, expected {\"seq\": n, ..} since the put has a writer");
      }
      return NONE;
    }
    if (!writer) {
      throw SagittaException.invalid("a batch has app_metadata, but the put has no writer");
    }
    return parse(appMetadata.get());
  }

  private static PutBatchTag parse(byte[] json) {
    OptionalLong seq = OptionalLong.empty();
    OptionalLong ackedBelow = OptionalLong.empty();
    try (StrictJson in = StrictJson.open(json, "app_metadata")) {
      in.enter(KEYS);
      for (String key = in.nextKey(); key != null; key = in.nextKey()) {
        OptionalLong value = OptionalLong.of(in.integer(0L, Long.MAX_VALUE));
        if (key.equals("seq")) {
          seq = value;
        } else {
          ackedBelow = value;
        }
      }
      in.require(seq.isPresent(), "seq");
      in.end();
    }
    if (ackedBelow.orElse(0) > seq.getAsLong()) {
      throw SagittaException.invalid(
          "app_metadata: 'acked_below' is "
              + ackedBelow.getAsLong()
              + ", expected at most 'seq', "
              + seq.getAsLong());
    }
    return new PutBatchTag(seq, ackedBelow);
  }

  /** The JSON text. */
  public byte[] toJson() {
    return Commands.write(
        out -> {
          out.writeStartObject();
          if (seq.isPresent()) {
            out.writeNumberField("seq", seq.getAsLong());
          }
          if (ackedBelow.isPresent()) {
            out.writeNumberField("acked_below", ackedBelow.getAsLong());
          }
          out.writeEndObject();
        });
  }
}
