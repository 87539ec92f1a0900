// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import java.util.Collection;
import java.util.Optional;

/** Finds what a misspelt name was meant to be. */
public final class NearestName {
  private NearestName() {}

  /** The known name with the fewest edits, if that is at most half of its letters. */
  public static Optional<String> of(String name, Collection<String> known) {
    String best = null;
    int bestEdits = Integer.MAX_VALUE;
    for (String candidate : known) {
      int edits = edits(name.length() > 64 ? name.substring(0, 64) : name, candidate);
      if (edits < bestEdits && edits <= Math.max(1, candidate.length() / 2)) {
        best = candidate;
        bestEdits = edits;
      }
    }
    return Optional.ofNullable(best);
  }

  /** Levenshtein distance. */
  private static int edits(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substitute = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substitute, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
