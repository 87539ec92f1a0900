// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.merge;

import io.sagitta.model.CollectionSchema;
import io.sagitta.model.IdType;
import io.sagitta.model.PointId;
import io.sagitta.router.rows.IdKeys;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * One step of a scan over several shards: from the pages at hand, the rows that are certainly next
 * in id order. That goes until a page is used up, since the shard's next page may begin with any id
 * after its last one.
 */
public final class IdOrderMerger {
  private IdOrderMerger() {}

  /** A page of one shard in id order, and how far it is used. */
  public static final class Page {
    private final VectorSchemaRoot rows;
    private final IdKeys ids;
    private int next;

    public Page(IdType idType, VectorSchemaRoot rows) {
      this.rows = rows;
      this.ids = IdKeys.of(idType, rows.getVector(CollectionSchema.ID));
    }

    public boolean isUsedUp() {
      return next == rows.getRowCount();
    }

    public VectorSchemaRoot rows() {
      return rows;
    }

    /** The last id of the page; absent when it is empty. */
    public Optional<PointId> last() {
      return rows.getRowCount() == 0
          ? Optional.empty()
          : Optional.of(ids.id(rows.getRowCount() - 1));
    }
  }

  /**
   * The next rows, at most {@code rowsMax}. The caller closes them.
   *
   * @param pages one of each shard that has rows left, none used up, at least one
   */
  public static VectorSchemaRoot next(
      List<Page> pages, int rowsMax, long bytesMax, BufferAllocator allocator) {
    Selection selection = new Selection(pages.stream().map(Page::rows).toList());
    while (selection.rows() < rowsMax) {
      int first = first(pages);
      Page page = pages.get(first);
      selection.add(first, page.next++);
      if (page.isUsedUp()) {
        break;
      }
    }
    return selection.copy(bytesMax, allocator);
  }

  private static int first(List<Page> pages) {
    int first = 0;
    for (int i = 1; i < pages.size(); i++) {
      Page page = pages.get(i);
      Page best = pages.get(first);
      if (page.ids.compare(page.next, best.ids, best.next) < 0) {
        first = i;
      }
    }
    return first;
  }
}
