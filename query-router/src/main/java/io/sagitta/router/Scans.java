// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import io.sagitta.flight.Command;
import io.sagitta.flight.RequestHandler.ScanSink;
import io.sagitta.model.ArrowSchemas;
import io.sagitta.model.Names;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardMap;
import io.sagitta.router.fanout.ActiveCall;
import io.sagitta.router.fanout.ShardReader;
import io.sagitta.router.plan.AnswerFields;
import io.sagitta.router.plan.Filters;
import io.sagitta.router.plan.Freshness;
import io.sagitta.router.plan.ScanCursor;
import io.sagitta.router.routing.MapCache;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Scan: points in id order. Each shard is read in pages that begin after the last id given, the
 * next page while this one is merged, so that memory is bounded by two pages a shard however long
 * the scan is. A point that lives throughout has one place in that order and is given once; one
 * that comes or goes meanwhile is given or not as its shard's page happened to see it.
 */
final class Scans {
  private final RouterOptions options;
  private final RouterParts parts;
  private final MapCache maps;
  private final ShardReader reader;

  Scans(RouterOptions options, RouterParts parts, MapCache maps, ShardReader reader) {
    this.options = options;
    this.parts = parts;
    this.maps = maps;
    this.reader = reader;
  }

  /** Gives all rows to the sink; answers the cursor, {@link ScanCursor#END} at the end. */
  String scan(Command.Scan scan, ScanSink sink, ActiveCall call) throws InterruptedException {
    StartOnce once = new StartOnce(sink);
    return maps.with(
        scan.collection(),
        call,
        collection -> {
          if (once.started) {
            throw SagittaException.notFound(
                "collection " + Names.quote(scan.collection()) + " was dropped during the scan");
          }
          return scan(collection, scan, once, call);
        });
  }

  /** Knows whether rows may have left, after which a scan cannot begin anew. */
  private static final class StartOnce implements ScanSink {
    private final ScanSink sink;
    private boolean started;

    private StartOnce(ScanSink sink) {
      this.sink = sink;
    }

    @Override
    public void start(Schema schema) {
      started = true;
      sink.start(schema);
    }

    @Override
    public void next(VectorSchemaRoot batch) throws InterruptedException {
      sink.next(batch);
    }
  }

  private String scan(
      ShardMap.Collection collection, Command.Scan scan, ScanSink sink, ActiveCall call)
      throws InterruptedException {
    List<String> fields = AnswerFields.of(collection.schema(), scan.fields());
    Filters.check(collection.schema(), scan.filter());
    Optional<ScanCursor> cursor =
        scan.cursor()
            .filter(text -> !text.isEmpty())
            .map(text -> ScanCursor.parse(text, collection.id()));
    Freshness freshness = Freshness.of(scan.consistency());
    if (scan.limit().isPresent() && scan.limit().getAsInt() < 1) {
      throw SagittaException.invalid(
          "'limit' is " + scan.limit().getAsInt() + ", expected at least 1");
    }
    if (scan.cursor().isPresent() && cursor.isEmpty()) {
      sink.start(schema(collection, fields));
      return ScanCursor.END; // The cursor of a scan that had come to its end.
    }
    List<ShardScan> shards = new ArrayList<>();
    for (ShardMap.Shard shard : shards(collection, scan.shard())) {
      shards.add(
          new ShardScan(
              options,
              reader,
              parts.workers(),
              collection,
              shard,
              scan,
              fields,
              freshness,
              cursor,
              call));
    }
    try (ScanMerge merge =
        new ScanMerge(options, collection, shards, scan.limit(), parts.allocator())) {
      return merge.into(sink, schema(collection, fields), cursor, call);
    }
  }

  private static List<ShardMap.Shard> shards(ShardMap.Collection collection, OptionalInt number) {
    if (number.isEmpty()) {
      return collection.shards();
    }
    List<ShardMap.Shard> one =
        collection.shards().stream().filter(shard -> shard.number() == number.getAsInt()).toList();
    if (one.isEmpty()) {
      throw SagittaException.invalid(
          "'shard' is "
              + number.getAsInt()
              + ", the collection has "
              + collection.shards().stream().map(ShardMap.Shard::number).toList());
    }
    return one;
  }

  /** Columns of a scan's rows: id, {@code _version}, fields. */
  static Schema schema(ShardMap.Collection collection, List<String> fields) {
    List<Field> columns = new ArrayList<>();
    columns.add(ArrowSchemas.idField(collection.schema().idType()));
    columns.add(
        new Field(
            AnswerFields.VERSION, FieldType.notNullable(new ArrowType.Int(64, true)), List.of()));
    for (String name : fields) {
      columns.add(ArrowSchemas.field(collection.schema().requireField(name)));
    }
    return new Schema(columns);
  }
}
