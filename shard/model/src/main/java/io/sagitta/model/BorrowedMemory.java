// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OwnershipTransferResult;
import org.apache.arrow.memory.ReferenceManager;

/**
 * Lends memory that no Arrow allocator owns, such as a mapped file, to Arrow vectors: counts who
 * still uses it and says so when nobody does. Its bytes are charged to no allocator, for they are
 * the page cache's. Read-only by agreement: writing to a mapped file ends the process.
 *
 * <p>Starts with one reference, the creator's own, given back with {@link #release()}.
 */
public final class BorrowedMemory implements ReferenceManager {
  private final BufferAllocator allocator;
  private final long size;
  private final Runnable released;
  private final AtomicInteger references = new AtomicInteger(1);

  /**
   * Lends {@code size} bytes.
   *
   * @param allocator named where Arrow asks for one; nothing is charged to it
   * @param released runs once, when the last reference is given back
   */
  public BorrowedMemory(BufferAllocator allocator, long size, Runnable released) {
    this.allocator = allocator;
    this.size = size;
    this.released = released;
  }

  /** A buffer over the bytes at an address; it shares this count and takes no reference itself. */
  public ArrowBuf buffer(long address, long length) {
    ArrowBuf buffer = new ArrowBuf(this, null, length, address);
    buffer.writerIndex(length);
    return buffer;
  }

  @Override
  public int getRefCount() {
    return references.get();
  }

  @Override
  public boolean release() {
    return release(1);
  }

  @Override
  public boolean release(int decrement) {
    int left = references.addAndGet(-decrement);
    if (left < 0) {
      throw new IllegalStateException("borrowed memory was released more often than retained");
    }
    if (left == 0) {
      released.run();
    }
    return left == 0;
  }

  @Override
  public void retain() {
    retain(1);
  }

  @Override
  public void retain(int increment) {
    if (references.getAndUpdate(n -> n > 0 ? n + increment : n) <= 0) {
      throw new IllegalStateException("borrowed memory is used after its release");
    }
  }

  @Override
  public ArrowBuf retain(ArrowBuf buffer, BufferAllocator target) {
    retain(1);
    return derived(buffer, 0, buffer.capacity(), buffer.readerIndex(), buffer.writerIndex());
  }

  @Override
  public ArrowBuf deriveBuffer(ArrowBuf buffer, long index, long length) {
    return derived(buffer, index, length, 0, 0);
  }

  @Override
  public OwnershipTransferResult transferOwnership(ArrowBuf buffer, BufferAllocator target) {
    ArrowBuf transferred = retain(buffer, target);
    return new OwnershipTransferResult() {
      @Override
      public boolean getAllocationFit() {
        return true;
      }

      @Override
      public ArrowBuf getTransferredBuffer() {
        return transferred;
      }
    };
  }

  @Override
  public BufferAllocator getAllocator() {
    return allocator;
  }

  @Override
  public long getSize() {
    return size;
  }

  @Override
  public long getAccountedSize() {
    return 0;
  }

  private ArrowBuf derived(ArrowBuf buffer, long index, long length, long reader, long writer) {
    ArrowBuf derived = new ArrowBuf(this, null, length, buffer.memoryAddress() + index);
    derived.writerIndex(writer);
    derived.readerIndex(reader);
    return derived;
  }
}
