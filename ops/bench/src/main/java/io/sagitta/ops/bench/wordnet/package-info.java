// SPDX-License-Identifier: Apache-2.0
/**
 * Real data that comes with the dependencies: WordNet 3.1 glosses and the all-MiniLM-L6-v2 model
 * that turns them into 384-dimensional vectors.
 *
 * <p>Embedding takes a minute or two, so its result is kept in a cache file whose header names the
 * model and the categories and whose bytes are checksummed; a file that does not fit is made anew.
 * Start with {@link io.sagitta.ops.bench.wordnet.GlossCollection}.
 */
package io.sagitta.ops.bench.wordnet;
