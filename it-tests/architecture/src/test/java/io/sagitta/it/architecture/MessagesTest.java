// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Messages are for people who run and use the software: no class of ours or Java's is in them. */
class MessagesTest {

  /** An exception pasted into a text as a whole, or the name of a class taken for one. */
  private static final Pattern CLASS_IN_MESSAGE =
      Pattern.compile("\" \\+ (?:e|cause|exception)\\b(?!\\s*[.(])|\\.getSimpleName\\(\\)");

  private static List<String> found(String source) {
    List<String> found = new ArrayList<>();
    Matcher matcher = CLASS_IN_MESSAGE.matcher(source);
    while (matcher.find()) {
      found.add(matcher.group());
    }
    return found;
  }

  @Test
  void theyNameNoClasses() throws IOException {
    List<String> violations = new ArrayList<>();
    for (Path file : Sources.javaFiles()) {
      if (!Sources.isTest(file) && !isForDevelopers(file)) {
        found(Files.readString(Sources.ROOT.resolve(file)))
            .forEach(text -> violations.add(file + ": " + text));
      }
    }
    assertThat(violations)
        .as("say what went wrong with Reason.of (in raft: RatisRaftHost.reason)")
        .isEmpty();
  }

  /** Benchmarks and the tests' own tools report to whoever changes the code. */
  private static boolean isForDevelopers(Path file) {
    return file.startsWith("it-tests") || Sources.module(file).endsWith("bench");
  }

  @Test
  void theRuleSeesWhatItForbids() {
    assertThat(found("fail(\"it failed: \" + e, e)")).hasSize(1);
    assertThat(found("fail(\"it failed: \" + cause);")).hasSize(1);
    assertThat(found("e.getClass().getSimpleName()")).hasSize(1);
    assertThat(found("fail(\"it failed: \" + e.getMessage() + cause(e))")).isEmpty();
    assertThat(found("fail(\"it failed: \" + Reason.of(e), e)")).isEmpty();
  }
}
