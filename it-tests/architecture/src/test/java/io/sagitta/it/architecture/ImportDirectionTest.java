// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Who may import whom, and that a package belongs to one module. */
class ImportDirectionTest {

  /** The module table. Each line says which modules a module's code may name. */
  private enum Module {
    MODEL("io.sagitta.model"),
    ENGINE("io.sagitta.shard", MODEL),
    ENGINE_BENCH("io.sagitta.shard.bench", ENGINE, MODEL),
    RAFT("io.sagitta.raft"),
    PROTOCOL("io.sagitta.flight", MODEL),
    CLIENT("io.sagitta.flight.client", PROTOCOL, MODEL),
    SERVER("io.sagitta.flight.server", PROTOCOL, MODEL),
    ROUTER("io.sagitta.router", PROTOCOL, CLIENT, MODEL),
    NODE("io.sagitta.node", ROUTER, RAFT, ENGINE, SERVER, CLIENT, PROTOCOL, MODEL),
    CLI("io.sagitta.ops.cli", CLIENT, PROTOCOL, MODEL),
    BENCH("io.sagitta.ops.bench", CLIENT, PROTOCOL, MODEL),
    // Measures the graph itself, in process.
    BENCH_CONTENDERS("io.sagitta.ops.bench.engine.worker", BENCH, ENGINE, MODEL),
    TESTKIT("io.sagitta.it.testkit");

    private final String root;

    @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
    private final Set<Module> allowed;

    Module(String root, Module... allowed) {
      this.root = root;
      this.allowed = Set.of(allowed);
    }

    /** The module with the longest root that holds this package. */
    private static Module of(String packageName) {
      Module best = null;
      for (Module module : values()) {
        boolean holds = (packageName + ".").startsWith(module.root + ".");
        if (holds && (best == null || module.root.length() > best.root.length())) {
          best = module;
        }
      }
      if (best == null) {
        throw new AssertionError(
            packageName + " belongs to no module: add it to the table in ImportDirectionTest");
      }
      return best;
    }
  }

  @Test
  void importsRunOneWay() {
    classes().should(nameOnlyAllowedModules()).allowEmptyShould(true).check(ProductionCode.ALL);
  }

  @Test
  void aPackageBelongsToOneModule() {
    Map<Path, Set<Path>> modulesOf = new TreeMap<>();
    for (Path folder : Sources.packageFolders()) {
      if (!Sources.isTest(folder)) {
        modulesOf
            .computeIfAbsent(Sources.inPackage(folder), unused -> new TreeSet<>())
            .add(Sources.module(folder));
      }
    }
    modulesOf.values().removeIf(modules -> modules.size() == 1);
    assertThat(modulesOf).as("packages split over modules; give each module its own").isEmpty();
  }

  private static ArchCondition<JavaClass> nameOnlyAllowedModules() {
    return new ArchCondition<>("name only the modules below their own") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        Module own = Module.of(type.getPackageName());
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
          String target = dependency.getTargetClass().getBaseComponentType().getPackageName();
          if (!(target + ".").startsWith("io.sagitta.")) {
            continue;
          }
          Module other = Module.of(target);
          if (other != own && !own.allowed.contains(other)) {
            String message =
                "%s may name only %s, not %s: let the caller hand it over, or move the value to model. %s"
                    .formatted(own, own.allowed, other, dependency.getDescription());
            events.add(SimpleConditionEvent.violated(dependency, message));
          }
        }
      }
    };
  }
}
