// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The rules look at all there is; one that saw nothing would pass in silence. */
class ProductionCodeTest {

  @Test
  void everyMainSourceIsLookedAt() {
    Set<String> unseen = new TreeSet<>(ProductionCode.WRITTEN);
    ProductionCode.ALL.forEach(type -> unseen.remove(ProductionCode.fileOf(type)));
    unseen.removeIf(file -> file.endsWith("/package-info.java"));
    assertThat(unseen)
        .as(
            "sources whose classes the rules do not see: name the module in it-tests/architecture/pom.xml")
        .isEmpty();
  }
}
