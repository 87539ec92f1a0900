// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

/** Libraries that one place only may know. */
class ConfinedLibraryTest {

  @Test
  void ratisStaysInRaft() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.sagitta.raft.ratis..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.ratis..")
        .because("only io.sagitta.raft.ratis knows Ratis; use io.sagitta.raft.RaftHost")
        .allowEmptyShould(true)
        .check(ProductionCode.ALL);
  }

  @Test
  void flightStaysInFlightAndFanout() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.sagitta.flight..", "io.sagitta.router.fanout..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.arrow.flight..")
        .because(
            "Flight is known to flight-api and the router's fan-out; elsewhere use the client"
                + " (io.sagitta.flight.client) or the request types of io.sagitta.flight")
        .allowEmptyShould(true)
        .check(ProductionCode.ALL);
  }

  @Test
  void nettyStaysInHttp() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.sagitta.node.http..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.netty..")
        .because("only io.sagitta.node.http knows Netty; gRPC's builders cover the rest")
        .allowEmptyShould(true)
        .check(ProductionCode.ALL);
  }

  @Test
  void contendersStayInTheirWorkers() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.sagitta.ops.bench.engine.worker..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.lucene..", "io.github.jbellis..")
        .because("Lucene and JVector are measured, not used: only their workers know them")
        .allowEmptyShould(true)
        .check(ProductionCode.ALL);
  }
}
