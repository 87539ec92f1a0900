// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.demo;

import java.util.List;
import java.util.Optional;

/**
 * A question of the demo.
 *
 * @param category where given, only synsets of this lexical file may answer
 */
record Question(String text, Optional<String> category) {

  static final List<Question> ALL =
      List.of(
          of("a bird that cannot fly"),
          of("a bird that cannot fly", "noun.animal"),
          of("something sweet to eat after dinner"),
          of("an animal that builds dams", "noun.animal"),
          of("a hot soup made from fish", "noun.food"),
          of("being sad because somebody is far away"),
          of("sudden strong fear", "noun.feeling"));

  private static Question of(String text) {
    return new Question(text, Optional.empty());
  }

  private static Question of(String text, String category) {
    return new Question(text, Optional.of(category));
  }

  /** The filter as it is asked, with its value in place of the parameter. */
  Optional<String> filter() {
    return category.map(name -> "category = '" + name + "'");
  }
}
