// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.testkit;

import java.security.SecureRandom;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands out {@link Seed}s and says how to replay a failure; see {@link Seeded}. */
final class SeedExtension implements ParameterResolver, AfterTestExecutionCallback {

  private static final ExtensionContext.Namespace SEEDS =
      ExtensionContext.Namespace.create(SeedExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == Seed.class;
  }

  @Override
  public Seed resolveParameter(ParameterContext parameter, ExtensionContext test) {
    return seedOf(test);
  }

  @Override
  public void afterTestExecution(ExtensionContext test) {
    if (test.getExecutionException().isPresent()) {
      System.err.println(replay(test, seedOf(test)));
    }
  }

  private static Seed seedOf(ExtensionContext test) {
    return test.getStore(SEEDS).computeIfAbsent(Seed.class, unused -> draw(), Seed.class);
  }

  private static Seed draw() {
    String asked = System.getProperty("sagitta.seed", "");
    return new Seed(asked.isEmpty() ? new SecureRandom().nextLong() : Long.parseLong(asked));
  }

  /** The build passes the command up to the test's name in {@code sagitta.replay}. */
  private static String replay(ExtensionContext test, Seed seed) {
    String method = test.getTestMethod().map(m -> "#" + m.getName()).orElse("");
    return "%s failed with seed %d. Replay: %s%s%s -Dsagitta.seed=%d"
        .formatted(
            test.getDisplayName(),
            seed.value(),
            System.getProperty("sagitta.replay", "./mvnw test -Dtest="),
            test.getRequiredTestClass().getSimpleName(),
            method,
            seed.value());
  }
}
