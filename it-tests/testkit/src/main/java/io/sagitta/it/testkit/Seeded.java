// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a random test. Its methods may take a {@link Seed}: fresh on each run, or the one of {@code
 * -Dsagitta.seed}. A failure prints the seed and the one command that replays it.
 *
 * <pre>
 * &#64;Seeded
 * class GraphTest {
 *   &#64;Test
 *   void findsWhatWasInserted(Seed seed) { ... }
 * }
 * </pre>
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SeedExtension.class)
public @interface Seeded {}
