// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import org.junit.jupiter.api.Test;

/** Exact scores are the same bits on every machine. */
class KernelTest {

  @Test
  void floatsAreReducedInAWrittenOrder() {
    DescribedPredicate<JavaCall<?>> reduceLanes =
        DescribedPredicate.describe(
            "reduceLanes of floats",
            call ->
                call.getName().startsWith("reduceLanes")
                    && (call.getTargetOwner().getName().equals("jdk.incubator.vector.FloatVector")
                        || call.getTargetOwner()
                            .getName()
                            .equals("jdk.incubator.vector.DoubleVector")));
    // The benchmark measures what the written order costs against exactly this; it scores nothing.
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName("io.sagitta.shard.bench.UnorderedDot")
        .should()
        .callCodeUnitWhere(reduceLanes)
        .because(
            "its order is unspecified, so replicas could disagree in the last bit; store the lanes"
                + " with intoArray and add them with the reduction tree of io.sagitta.shard.distance")
        .allowEmptyShould(true)
        .check(ProductionCode.ALL);
  }
}
