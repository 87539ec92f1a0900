// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

/**
 * One WordNet synset.
 *
 * @param id part of speech (1 noun, 2 verb, 3 adjective, 4 adverb) times 10^8 plus the synset's
 *     offset in its data file: the number by which other WordNet tools know it
 * @param lemmas its words, comma-separated
 * @param gloss definition and examples
 * @param partOfSpeech noun, verb, adjective or adverb
 * @param category lexical file, such as {@code noun.animal}
 * @param senses number of words that share the synset
 */
public record Gloss(
    long id, String lemmas, String gloss, String partOfSpeech, String category, int senses) {}
