// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.segment;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The current value of something immutable, leases on it and on its predecessors, and the memory
 * and files that a successor no longer needs: they are closed once nobody can reach them.
 *
 * <p>Values form a chain. Each is referenced by being current, by each lease on it, and by its
 * predecessor while that lives. So a value ends only after all before it have ended, and what was
 * retired when it was succeeded can be closed right then: every value that could reach it has
 * ended. The cost of a lease is one atomic increment however many chunks and files the value holds.
 *
 * <p>Happens-before, for readers of mutable memory that a value reaches:
 *
 * <ol>
 *   <li>the writer fills memory, then publishes a value by a volatile write of {@code current};
 *   <li>a reader takes a lease by a volatile read of {@code current}, so it sees all that was
 *       filled before that value was published;
 *   <li>a reader ends its use, then gives its lease back by an atomic decrement; whoever brings a
 *       count to zero has read all decrements before, so closing comes after every use.
 * </ol>
 *
 * @param <T> the type of the values
 */
public final class Leases<T> {
  private final AtomicReference<Link<T>> current;
  private volatile boolean ended;

  /** Starts with a first value. */
  public Leases(T first) {
    current = new AtomicReference<>(new Link<>(first, 1));
  }

  /** The current value without a lease: for the writer, who alone can end it. */
  public T current() {
    return current.get().value;
  }

  /**
   * A lease on the current value. Any thread.
   *
   * @throws IllegalStateException after {@link #end}
   */
  public Lease<T> acquire() {
    while (!ended) {
      Link<T> link = current.get();
      if (link.tryRetain()) {
        return new Lease<>(link);
      }
      // It was succeeded and ended between the two reads; the successor is current by now.
    }
    throw new IllegalStateException("the chain of values has ended");
  }

  /**
   * Succeeds the current value. One writer at a time.
   *
   * @param retired what only values before {@code next} reach; closed when the last of them ends
   */
  public void publish(T next, List<? extends Closing> retired) {
    Link<T> old = current.get();
    Link<T> link = new Link<>(next, 2);
    old.next = link;
    old.retired = List.copyOf(retired);
    current.set(link);
    old.release();
  }

  /** Ends the chain after a last {@link #publish}, whose value must hold nothing. */
  public void end() {
    ended = true;
    current.get().release();
  }

  /** Gives memory or files back; must not fail. */
  @FunctionalInterface
  public interface Closing extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Keeps a value and all it reaches. Close it once.
   *
   * @param <T> the type of the value
   */
  public static final class Lease<T> implements AutoCloseable {
    private final AtomicReference<Link<T>> link;
    private final T value;

    private Lease(Link<T> link) {
      this.link = new AtomicReference<>(link);
      this.value = link.value;
    }

    public T value() {
      if (link.get() == null) {
        throw new IllegalStateException("the lease has been closed");
      }
      return value;
    }

    @Override
    public void close() {
      Link<T> held = link.getAndSet(null);
      if (held != null) {
        held.release();
      }
    }
  }

  private static final class Link<T> {
    final T value;
    final AtomicInteger references;
    // Both are written before the writer's own reference is released, and read at zero.
    Link<T> next;
    List<? extends Closing> retired = List.of();

    Link(T value, int references) {
      this.value = value;
      this.references = new AtomicInteger(references);
    }

    boolean tryRetain() {
      return references.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0;
    }

    void release() {
      Link<T> link = this;
      while (link != null && link.references.decrementAndGet() == 0) {
        link.retired.forEach(Closing::close);
        link = link.next;
      }
    }
  }
}
