// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.Command.CreateSpec;
import io.sagitta.flight.RequestHandler.PutSession;
import io.sagitta.model.CollectionSchema;
import io.sagitta.model.ShardMap;
import io.sagitta.model.WriterId;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ShardWriter;
import io.sagitta.router.routing.MapCache;
import io.sagitta.router.rows.InferredSchema;
import io.sagitta.router.rows.RowNormaliser;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.types.pojo.Schema;

/** Opens put streams and writers. */
final class Puts {
  private final RouterOptions options;
  private final RouterParts parts;
  private final MapCache maps;
  private final Collections collections;
  private final ShardWriter writer;
  private final Admission admission;

  Puts(
      RouterOptions options,
      RouterParts parts,
      MapCache maps,
      Collections collections,
      ShardWriter writer,
      Admission admission) {
    this.options = options;
    this.parts = parts;
    this.maps = maps;
    this.collections = collections;
    this.writer = writer;
    this.admission = admission;
  }

  /** Opens a stream; its columns are checked against the collection before any batch travels. */
  PutSession open(Command.Put put, Schema sent, DictionaryProvider dictionaries, ActiveCall stream)
      throws InterruptedException {
    ShardMap.Collection collection =
        put.create().isPresent()
            ? collections.requireOrCreate(
                withSchema(put.create().get(), sent, dictionaries), stream)
            : maps.requireFresh(put.collection(), stream);
    RowNormaliser normaliser =
        RowNormaliser.compile(collection.schema(), put.mode(), sent, dictionaries);
    return new PutStream(
        options,
        parts,
        maps,
        writer,
        admission,
        put,
        collection,
        sent,
        dictionaries,
        normaliser,
        stream);
  }

  /** A create that names no fields takes them from the stream. */
  private static CreateSpec withSchema(
      CreateSpec spec, Schema sent, DictionaryProvider dictionaries) {
    if (!spec.schema().fields().isEmpty()) {
      return spec;
    }
    CollectionSchema inferred = InferredSchema.of(sent, dictionaries);
    return new CreateSpec(spec.collection(), inferred, spec.shards(), spec.replicas());
  }

  /**
   * A writer. Its opening time is this node's clock, later than {@code after} where a shard named
   * one: a shard accepts an unknown writer only if it was opened after all it has forgotten.
   */
  byte[] openWriter(Command.OpenWriter open) {
    long openedAt = parts.clock().millis();
    if (open.afterMs().isPresent()) {
      openedAt = Math.max(openedAt, open.afterMs().getAsLong() + 1);
    }
    WriterId writer = new WriterId(parts.uuids().get(), openedAt);
    return "{\"writer\": \"%s\", \"opened_at\": %d}"
        .formatted(writer, openedAt)
        .getBytes(StandardCharsets.UTF_8);
  }
}
