// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.BaseStream;
import org.junit.jupiter.api.Test;

/**
 * Time, chance and threads are handed in, so that a test can replay what happened. {@link Adapters}
 * are the doors through which they come.
 */
class DeterminismTest {

  private static final String OR_ADAPTER =
      "; a class that is itself the door to the outside goes, with its reason, into adapters.txt";

  @Test
  void clocksAreHandedIn() {
    check("read no wall clock", DeterminismTest::readsWallClock, "take a java.time.InstantSource");
  }

  @Test
  void randomnessIsSeeded() {
    check(
        "draw no unseeded random numbers",
        DeterminismTest::drawsUnseeded,
        "take a java.util.random.RandomGenerator, or make one from a seed you were given");
  }

  @Test
  void threadsAreHandedIn() {
    check(
        "make no threads",
        DeterminismTest::makesThread,
        "take an Executor or a ThreadFactory; Node makes and names the threads");
  }

  @Test
  void everyListedAdapterExists() {
    List<String> stale =
        Adapters.listed().stream()
            .filter(
                line ->
                    ProductionCode.ALL.stream()
                        .noneMatch(type -> Adapters.matches(line, type.getName())))
            .toList();
    assertThat(stale).as("lines of adapters.txt that match no class: remove them").isEmpty();
  }

  private static boolean readsWallClock(Call call) {
    return call.is("java.lang.System", "currentTimeMillis")
        || call.is("java.time.InstantSource", "system")
        || call.is("java.time.Clock")
            && (call.name.startsWith("system")
                || call.name.startsWith("tick") && !call.takes("java.time.Clock"))
        || call.owner.startsWith("java.time.")
            && call.name.equals("now")
            && !call.takes("java.time.Clock")
        || call.is("java.util.Date", "<init>") && call.parameters.isEmpty()
        || call.is("java.util.Calendar", "getInstance");
  }

  private static boolean drawsUnseeded(Call call) {
    return call.is("java.lang.Math", "random")
        || call.is("java.lang.StrictMath", "random")
        || call.is("java.util.UUID", "randomUUID")
        || call.is("java.util.concurrent.ThreadLocalRandom", "current")
        || call.is("java.util.Random", "<init>") && call.parameters.isEmpty()
        || call.is("java.util.SplittableRandom", "<init>") && call.parameters.isEmpty()
        || call.is("java.util.random.RandomGenerator", "getDefault")
        || call.is("java.util.random.RandomGenerator", "of")
        || call.is("java.util.random.RandomGeneratorFactory", "create") && call.parameters.isEmpty()
        || call.is("java.util.Collections", "shuffle") && call.parameters.size() == 1;
  }

  private static boolean makesThread(Call call) {
    boolean makes = call.name.equals("<init>");
    return makes && call.ownerIs(Thread.class)
        || call.is("java.lang.Thread")
            && List.of("ofVirtual", "ofPlatform", "startVirtualThread").contains(call.name)
        || call.is("java.util.concurrent.Executors") && call.name.startsWith("new")
        || makes && call.ownerIs(ThreadPoolExecutor.class)
        || makes && call.ownerIs(ForkJoinPool.class)
        || call.is("java.util.concurrent.ForkJoinPool", "commonPool")
        || makes && call.is("java.util.Timer")
        || call.name.equals("parallelStream")
        || call.ownerIs(BaseStream.class) && call.name.equals("parallel")
        || call.ownerIs(CompletionStage.class)
            && call.name.endsWith("Async")
            && !call.takes(Executor.class.getName());
  }

  /** A call, constructor or method reference in terms that the lists above can be written in. */
  private record Call(JavaClass ownerType, String owner, String name, List<String> parameters) {

    static Call of(JavaAccess<?> access) {
      JavaClass owner = access.getTargetOwner();
      return new Call(owner, owner.getName(), access.getName(), parametersOf(access));
    }

    private static List<String> parametersOf(JavaAccess<?> access) {
      return access.getTarget() instanceof CodeUnitAccessTarget unit
          ? unit.getRawParameterTypes().stream().map(JavaClass::getName).toList()
          : List.of();
    }

    boolean is(String type) {
      return owner.equals(type);
    }

    boolean is(String type, String method) {
      return owner.equals(type) && name.equals(method);
    }

    boolean ownerIs(Class<?> type) {
      return ownerType.isAssignableTo(type);
    }

    boolean takes(String type) {
      return parameters.contains(type);
    }
  }

  private interface Forbidden {
    boolean matches(Call call);
  }

  private static void check(String name, Forbidden forbidden, String instead) {
    classes()
        .should(avoid(name, forbidden, instead + OR_ADAPTER))
        .allowEmptyShould(true)
        .check(ProductionCode.ALL);
  }

  private static ArchCondition<JavaClass> avoid(String name, Forbidden forbidden, String instead) {
    return new ArchCondition<>(name) {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        if (Adapters.contains(type)) {
          return;
        }
        for (JavaAccess<?> access : type.getAccessesFromSelf()) {
          if (forbidden.matches(Call.of(access))) {
            events.add(
                SimpleConditionEvent.violated(access, access.getDescription() + ": " + instead));
          }
        }
      }
    };
  }
}
