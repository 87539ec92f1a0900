// SPDX-License-Identifier: Apache-2.0
/**
 * Real data that comes with the dependencies: WordNet 3.1 glosses and the all-MiniLM-L6-v2 model
 * that turns them into 384-dimensional vectors.
 *
 * <p>Embedding the demo's part takes a minute or two, all of it some twenty minutes on two cores;
 * it may be interrupted and goes on where it was. Its result is kept in a cache file whose header
 * names the model and the categories and whose bytes are checksummed; a file that does not fit is
 * made anew. Start with {@link io.sagitta.ops.bench.wordnet.GlossCollection}.
 */
package io.sagitta.ops.bench.wordnet;
