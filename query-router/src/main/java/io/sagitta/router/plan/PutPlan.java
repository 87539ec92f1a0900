// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.flight.Command;
import io.sagitta.model.HashSlot;
import io.sagitta.model.RowBatch;
import io.sagitta.model.RowBatchCodec;
import io.sagitta.model.RowSelection;
import io.sagitta.model.ShardMap;
import io.sagitta.model.WriteKey;
import io.sagitta.model.WriteMode;
import io.sagitta.router.routing.SlotTable;
import io.sagitta.router.rows.CanonicalRows;
import io.sagitta.router.rows.IdKeys;
import io.sagitta.router.rows.LastRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A batch cut into entries. Rows go to the shard that owns their slot, in their order, and are cut
 * there where an entry would pass its size; which rows are in which piece depends on the batch, the
 * slots and the types of the columns sent alone. So a batch that is sent again is cut the same way,
 * and each piece is recognised by its key.
 *
 * @param collection the collection it was cut for
 * @param mode what the rows do
 * @param ids the ids it touches, each by its last row
 * @param pieces entries, those of one shard together and in row order
 */
public record PutPlan(
    ShardMap.Collection collection, WriteMode mode, LastRows ids, List<Piece> pieces) {

  /**
   * One entry.
   *
   * @param shard the shard its rows belong to
   * @param rows the rows, encoded
   * @param sentRows number in the batch as sent of each of its rows
   * @param key what makes it take effect once
   */
  public record Piece(
      ShardMap.Shard shard, RowBatch rows, int[] sentRows, Optional<WriteKey> key) {}

  /**
   * Cuts a batch.
   *
   * @param rows checked rows of the collection's schema; not needed any more afterwards
   * @throws io.sagitta.model.SagittaException LIMIT naming a row that is too large,
   *     INVALID_ARGUMENT for a bad key
   */
  public static PutPlan of(
      ShardMap.Collection collection,
      Command.Put put,
      CanonicalRows rows,
      OptionalLong seq,
      OptionalLong ackedBelow) {
    LastRows ids = LastRows.of(IdKeys.of(collection.schema().idType(), rows.ids()), rows.count());
    SlotTable slots = new SlotTable(collection);
    List<Piece> pieces = new ArrayList<>();
    int[][] byShard = split(ids, slots);
    for (int place = 0; place < byShard.length; place++) {
      int[] own = byShard[place];
      RowSelection selection =
          own.length == rows.count()
              ? RowSelection.all(rows.root())
              : RowSelection.picked(rows.root(), own);
      int from = 0;
      int number = 0;
      for (RowBatch batch :
          RowBatchCodec.pieces(rows.columns(), selection, RowBatchCodec.PIECE_BYTES_MAX)) {
        int piece = number++;
        Optional<WriteKey> key =
            put.writer()
                .map(writer -> new WriteKey(writer, seq.getAsLong(), ackedBelow.orElse(0), piece));
        pieces.add(
            new Piece(
                slots.shards().get(place),
                batch,
                Arrays.copyOfRange(own, from, from + batch.rows()),
                key));
        from += batch.rows();
      }
    }
    return new PutPlan(collection, put.mode(), ids, pieces);
  }

  /** Row numbers by place of their shard, in order. */
  private static int[][] split(LastRows ids, SlotTable slots) {
    int[] rows = ids.rows();
    int[] places = new int[rows.length];
    int[] counts = new int[slots.shards().size()];
    for (int i = 0; i < rows.length; i++) {
      places[i] = slots.place(HashSlot.ofHash(ids.hash(rows[i])));
      counts[places[i]]++;
    }
    int[][] byShard = new int[counts.length][];
    for (int place = 0; place < counts.length; place++) {
      byShard[place] = new int[counts[place]];
    }
    int[] filled = new int[counts.length];
    for (int i = 0; i < rows.length; i++) {
      byShard[places[i]][filled[places[i]]++] = rows[i];
    }
    return byShard;
  }
}
