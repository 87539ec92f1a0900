// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

/**
 * Bounds of a request, each named in the error of what exceeds it. {@code
 * docs/protocol.schema.json} says the same; a test holds them together.
 */
public final class RequestLimits {
  /** Bytes of one JSON request: what an inbound message may have. */
  public static final int REQUEST_BYTES_MAX = 20 << 20;

  /** Nesting of JSON values. */
  public static final int DEPTH_MAX = 64;

  /** {@code offset + k} of a search; of a grouped one, that times {@code group_size}. */
  public static final int HITS_MAX = 10_000;

  /** Hits of all queries of one grouped search, groups left out by its offset included. */
  public static final int GROUPED_HITS_MAX = 1_000_000;

  /** Candidate list length of a graph search. */
  public static final int EF_MAX = 65_536;

  /** Query vectors of one search. */
  public static final int QUERIES_MAX = 4_096;

  /** Ids of one get, set or unset. */
  public static final int IDS_MAX = 10_000;

  /** Fields named by one request. */
  public static final int FIELDS_MAX = 1_024;

  /** Parameters of a filter, and values in a list that is one parameter. */
  public static final int PARAMS_MAX = 65_536;

  /** Digits before or after the point of a decimal; a float64 written exactly has up to 1,074. */
  public static final int DECIMAL_DIGITS_MAX = 1_100;

  /** How long a client may ask an answer to take. */
  public static final long TIMEOUT_MS_MAX = 3_600_000;

  /** Staleness that a bounded read may allow. */
  public static final long STALENESS_MS_MAX = 3_600_000;

  /** Shards of a collection. */
  public static final int SHARDS_MAX = 1_024;

  /** Replicas of a shard. */
  public static final int REPLICAS_MAX = 9;

  private RequestLimits() {}
}
