// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import io.sagitta.model.FilterText;
import io.sagitta.model.ShardRead;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A shard as of one log index: sees exactly the rows born at or before it that had not died. A
 * counted lease; whatever it needs stays until it is closed. Safe for any thread, also several at
 * once.
 */
public final class ShardView implements AutoCloseable {
  /** Log index of the last entry seen. */
  public long index() {
    throw new UnsupportedOperationException();
  }

  /** The k nearest rows to each query vector; {@code allocator} holds the answer. */
  public ReadResult search(ShardRead.Search search, BufferAllocator allocator, StopSignal stop) {
    throw new UnsupportedOperationException();
  }

  /** The rows with these ids, in the order asked, absent ones left out. */
  public ReadResult get(ShardRead.Get get, BufferAllocator allocator, StopSignal stop) {
    throw new UnsupportedOperationException();
  }

  /**
   * One page of rows in id order: at most {@code limit} rows and some 4 MiB, so that a page is cut
   * early where rows are large; {@link ReadStats#more} says whether to ask on after its last id.
   */
  public ReadResult scan(ShardRead.Scan scan, BufferAllocator allocator, StopSignal stop) {
    throw new UnsupportedOperationException();
  }

  /** Number of rows, of those that match where there is a filter. */
  public ReadResult count(ShardRead.Count count, BufferAllocator allocator, StopSignal stop) {
    throw new UnsupportedOperationException();
  }

  /** The rows a filter matches, for a DeleteWhere or SetWhere entry. Runs on the leader. */
  public Candidates resolve(FilterText filter, BufferAllocator allocator, StopSignal stop) {
    throw new UnsupportedOperationException();
  }

  /** Order-independent digest over (id, version, vectors, payload) of the rows seen; 24 bytes. */
  public byte[] digest() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
