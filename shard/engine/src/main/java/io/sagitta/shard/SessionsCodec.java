// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.SagittaException;
import io.sagitta.model.WriteOutcome;
import io.sagitta.model.WriteOutcomeCodec;
import io.sagitta.model.WriterId;
import io.sagitta.shard.log.proto.Outcome;
import io.sagitta.shard.log.proto.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;

/** {@link Sessions} as they lie in a checkpoint; the same sessions give the same bytes. */
final class SessionsCodec {
  private SessionsCodec() {}

  static byte[] encode(Sessions sessions) {
    var out = io.sagitta.shard.log.proto.Sessions.newBuilder();
    sessions.forEach(
        (writer, lastActiveMs, forgotten, outcomes) ->
            out.addSessions(encode(writer, lastActiveMs, forgotten, outcomes)));
    return out.build().toByteArray();
  }

  static Sessions decode(byte[] bytes, long horizonMs) throws IOException {
    Sessions sessions = new Sessions(horizonMs);
    try {
      for (Session session :
          io.sagitta.shard.log.proto.Sessions.parseFrom(bytes).getSessionsList()) {
        NavigableMap<Sessions.Key, WriteOutcome.Applied> outcomes = new TreeMap<>();
        for (Outcome outcome : session.getOutcomesList()) {
          outcomes.put(
              new Sessions.Key(outcome.getSeq(), outcome.getPiece()),
              applied(outcome.getOutcome().asReadOnlyByteBuffer()));
        }
        ByteBuffer uuid = session.getWriter().asReadOnlyByteBuffer();
        sessions.restore(
            new WriterId(new UUID(uuid.getLong(), uuid.getLong()), session.getOpenedAtMs()),
            session.getLastActiveMs(),
            new Sessions.Key(session.getForgottenSeq(), session.getForgottenPiece()),
            outcomes);
      }
    } catch (InvalidProtocolBufferException | SagittaException e) {
      throw new IOException("the checkpoint's sessions cannot be read: " + e.getMessage(), e);
    }
    return sessions;
  }

  private static Session encode(
      WriterId writer,
      long lastActiveMs,
      Sessions.Key forgotten,
      NavigableMap<Sessions.Key, WriteOutcome.Applied> outcomes) {
    Session.Builder out =
        Session.newBuilder()
            .setWriter(
                ByteString.copyFrom(
                    ByteBuffer.allocate(16)
                        .putLong(writer.uuid().getMostSignificantBits())
                        .putLong(writer.uuid().getLeastSignificantBits())
                        .flip()))
            .setOpenedAtMs(writer.openedAtMs())
            .setLastActiveMs(lastActiveMs)
            .setForgottenSeq(forgotten.seq())
            .setForgottenPiece(forgotten.piece());
    outcomes.forEach(
        (key, outcome) ->
            out.addOutcomes(
                Outcome.newBuilder()
                    .setSeq(key.seq())
                    .setPiece(key.piece())
                    .setOutcome(ByteString.copyFrom(WriteOutcomeCodec.encode(outcome)))));
    return out.build();
  }

  private static WriteOutcome.Applied applied(ByteBuffer bytes) throws IOException {
    if (WriteOutcomeCodec.decode(bytes) instanceof WriteOutcome.Applied applied) {
      return applied;
    }
    throw new IOException("the checkpoint's sessions hold an outcome that was not applied");
  }
}
