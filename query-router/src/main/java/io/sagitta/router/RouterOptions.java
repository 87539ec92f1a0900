// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router;

import java.time.Duration;

/**
 * Bounds of the router, every one explicit.
 *
 * @param readsMax reads at work at a time; more are refused with UNAVAILABLE
 * @param scansMax scans at work at a time, which hold pages of every shard
 * @param writeBytesMax bytes of batches at work at a time, over all put streams; more are refused
 *     with UNAVAILABLE once {@code writeWait} is over
 * @param writeWait how long a batch waits for room among the others
 * @param streamBatchesMax batches of one put stream at work; further ones wait, which slows the
 *     client
 * @param streamBytesMax bytes of the batches of one put stream at work
 * @param writeTimeout longest time a batch or a write by filter may take, retries included, where
 *     the call's own deadline is later; longer than an election
 * @param readRetry how long a read looks for a replica that answers; longer than an election
 * @param retryPause pause before a shard is asked again after all its replicas refused; doubles up
 *     to {@code retryPauseMax}
 * @param retryPauseMax longest such pause
 * @param hedgeAfter how long a read that any replica may serve waits for the first before it asks a
 *     second one too
 * @param silence how long a replica may take before it is asked whether it is there at all, and how
 *     long that may take; one that is not there is passed over while the call has time left
 * @param strongOnFollowers whether strong reads go to a near replica, which asks the leader for a
 *     barrier, instead of to the leader: reads then scale with replicas, each at the price of one
 *     more round trip
 * @param scanPageBytes bytes of a scan that are fetched of one shard at a time, roughly
 * @param answerBytesMax bytes of one whole answer (docs/contract.md, section 7)
 */
public record RouterOptions(
    int readsMax,
    int scansMax,
    long writeBytesMax,
    Duration writeWait,
    int streamBatchesMax,
    long streamBytesMax,
    Duration writeTimeout,
    Duration readRetry,
    Duration retryPause,
    Duration retryPauseMax,
    Duration hedgeAfter,
    Duration silence,
    boolean strongOnFollowers,
    int scanPageBytes,
    long answerBytesMax) {

  /** What a node uses unless its configuration says otherwise. */
  public static final RouterOptions DEFAULT =
      new RouterOptions(
          512,
          32,
          256L << 20,
          Duration.ofSeconds(2),
          16,
          64L << 20,
          Duration.ofSeconds(30),
          Duration.ofSeconds(10),
          Duration.ofMillis(10),
          Duration.ofMillis(250),
          Duration.ofMillis(100),
          Duration.ofSeconds(1),
          false,
          1 << 20,
          64L << 20);
}
