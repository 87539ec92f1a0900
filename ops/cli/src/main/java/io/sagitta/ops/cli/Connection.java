// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.sagitta.flight.Command;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * What the commands need of a cluster. Failures are {@link io.sagitta.model.SagittaException}s by
 * the contract's table; a cluster that cannot be reached is UNAVAILABLE.
 */
interface Connection extends AutoCloseable {

  /** Carries out a verb that answers with one JSON object. */
  JsonNode act(Command command);

  /** Carries out search, get or scan; batches go to {@code sink}, which may not keep them. */
  RowsEnd rows(Command command, RowSink sink);

  /** All collections, by name. */
  List<CollectionLine> collections();

  @Override
  void close();

  /** Where batches of rows go. */
  interface RowSink {
    void next(VectorSchemaRoot batch);
  }

  /**
   * What stands beside the rows of an answer.
   *
   * @param schema of the rows, also where there are none
   * @param certificate JSON of a search's certificate
   * @param explain JSON of a search's per-segment detail
   * @param cursor where a scan ended
   */
  record RowsEnd(
      Schema schema,
      Optional<String> certificate,
      Optional<String> explain,
      Optional<String> cursor) {}

  /**
   * One collection of a listing.
   *
   * @param rows -1 where not known
   */
  record CollectionLine(String name, long rows, Schema schema) {}

  /** Opens connections. */
  interface Opener {
    Connection open(Endpoint endpoint, Duration timeout);
  }
}
