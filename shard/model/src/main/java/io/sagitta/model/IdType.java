// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

/** The type of a collection's ids, chosen at creation and never changed. */
public enum IdType {
  /** Signed 64-bit integers, compared as numbers. */
  INT64,
  /** 1 to 512 bytes of valid UTF-8, compared byte by byte (unsigned), no Unicode normalisation. */
  UTF8,
  /** 16 bytes, compared byte by byte (unsigned); any usual spelling of one UUID is one point. */
  UUID
}
