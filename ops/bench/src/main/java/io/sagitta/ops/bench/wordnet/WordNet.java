// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.wordnet;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import net.sf.extjwnl.JWNLException;
import net.sf.extjwnl.data.POS;
import net.sf.extjwnl.data.Synset;
import net.sf.extjwnl.data.Word;
import net.sf.extjwnl.dictionary.Dictionary;

/** Reads WordNet 3.1 from its jar. */
public final class WordNet {
  /**
   * Categories of the demo: some 10,000 synsets that questions in plain words can be asked about.
   */
  public static final Set<String> DEMO_CATEGORIES =
      Set.of("noun.animal", "noun.food", "noun.feeling");

  /** Every category. */
  public static final Set<String> ALL_CATEGORIES = Set.of();

  private static final long ID_STRIDE = 100_000_000L;

  private WordNet() {}

  /** Synsets of the given categories in id order; all of them for {@link #ALL_CATEGORIES}. */
  public static List<Gloss> read(Set<String> categories) {
    try {
      Dictionary dictionary = Dictionary.getDefaultResourceInstance();
      List<Gloss> glosses = new ArrayList<>();
      for (POS pos : POS.values()) {
        Iterator<Synset> synsets = dictionary.getSynsetIterator(pos);
        while (synsets.hasNext()) {
          Synset synset = synsets.next();
          if (categories.isEmpty() || categories.contains(synset.getLexFileName())) {
            glosses.add(gloss(pos, synset));
          }
        }
      }
      glosses.sort(Comparator.comparingLong(Gloss::id));
      return glosses;
    } catch (JWNLException e) {
      throw new IllegalStateException("WordNet could not be read from its jar", e);
    }
  }

  private static Gloss gloss(POS pos, Synset synset) {
    return new Gloss(
        pos.getId() * ID_STRIDE + synset.getOffset(),
        String.join(", ", synset.getWords().stream().map(Word::getLemma).toList()),
        synset.getGloss(),
        pos.getLabel(),
        synset.getLexFileName(),
        synset.getWords().size());
  }
}
