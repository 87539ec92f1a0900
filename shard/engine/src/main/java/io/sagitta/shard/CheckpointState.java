// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.model.SagittaException;
import io.sagitta.model.SlotRange;
import io.sagitta.shard.log.LogEntry;
import io.sagitta.shard.log.LogEntryDecoder;
import io.sagitta.shard.log.SchemaCodec;
import io.sagitta.shard.log.ShardEntries;
import io.sagitta.shard.log.proto.State;
import java.io.IOException;
import java.util.List;

/**
 * What a checkpoint's manifest says beside naming files.
 *
 * @param meta what the shard is; null where its Init entry has not been applied
 * @param timeMs state time
 * @param horizonMs latest activity of any writer forgotten
 * @param bytesSinceFreeze bytes of log entries since the last freeze
 * @param entriesSinceFreeze log entries since the last freeze
 * @param segments number of each of the manifest's segments, in its order
 * @param growing number of the growing segment
 * @param growingHasRows whether the manifest's last segment holds the rows of the growing one
 */
record CheckpointState(
    ShardMeta meta,
    long timeMs,
    long horizonMs,
    long bytesSinceFreeze,
    int entriesSinceFreeze,
    List<Long> segments,
    long growing,
    boolean growingHasRows) {

  /** Version of the bytes, as manifests record it. */
  static final int VERSION = 1;

  CheckpointState {
    segments = List.copyOf(segments);
  }

  byte[] toBytes() {
    State.Builder out =
        State.newBuilder()
            .setTimeMs(timeMs)
            .setHorizonMs(horizonMs)
            .setBytesSinceFreeze(bytesSinceFreeze)
            .setEntriesSinceFreeze(entriesSinceFreeze)
            .addAllSegments(segments)
            .setGrowing(growing)
            .setGrowingHasRows(growingHasRows);
    if (meta != null) {
      out.setInit(ByteString.copyFrom(ShardEntries.init(meta.init(), 0)))
          .setEpoch(meta.epoch())
          .setSlots(
              io.sagitta.shard.log.proto.SlotRange.newBuilder()
                  .setFrom(meta.slots().from())
                  .setTo(meta.slots().to()))
          .setSchema(SchemaCodec.toProto(meta.schema()))
          .setFieldIdMax(meta.fieldIdMax());
    }
    return out.build().toByteArray();
  }

  static CheckpointState fromBytes(int version, byte[] bytes) throws IOException {
    if (version != VERSION) {
      throw new IOException(
          "the checkpoint's state has version " + version + ", this version reads " + VERSION);
    }
    try {
      State state = State.parseFrom(bytes);
      return new CheckpointState(
          state.getInit().isEmpty() ? null : meta(state),
          state.getTimeMs(),
          state.getHorizonMs(),
          state.getBytesSinceFreeze(),
          state.getEntriesSinceFreeze(),
          state.getSegmentsList(),
          state.getGrowing(),
          state.getGrowingHasRows());
    } catch (InvalidProtocolBufferException | IllegalArgumentException | SagittaException e) {
      throw new IOException("the checkpoint's state cannot be read: " + e.getMessage(), e);
    }
  }

  private static ShardMeta meta(State state) throws IOException {
    LogEntry entry = LogEntryDecoder.decode(state.getInit().asReadOnlyByteBuffer());
    if (!(entry instanceof LogEntry.Init init)) {
      throw new IOException("the checkpoint's state begins with " + entry + ", expected Init");
    }
    return new ShardMeta(
        init.init(),
        state.getEpoch(),
        new SlotRange(state.getSlots().getFrom(), state.getSlots().getTo()),
        SchemaCodec.fromProto(state.getSchema()),
        state.getFieldIdMax());
  }
}
