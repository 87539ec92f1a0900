// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/**
 * Where the full vectors of a field's sealed segments are kept for reading; in files they lie
 * either way, and their bytes there are the same. Codes and links of graphs are in memory in both.
 */
public enum VectorStorage {
  /**
   * Read through a mapping of the file: what is not in the system's page cache comes from disk. A
   * search by graph reads only the few vectors that it scores exactly.
   */
  MAPPED,
  /** Read into the node's own memory when the segment is opened, and counted as such. */
  MEMORY
}
