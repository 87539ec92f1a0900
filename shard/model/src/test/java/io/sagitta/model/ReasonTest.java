// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ReasonTest {
  static Stream<Arguments> failures() {
    IOException full = new IOException("No space left on device");
    return Stream.of(
        Arguments.of(full, "No space left on device"),
        Arguments.of(new IOException(full), "No space left on device"),
        Arguments.of(new UncheckedIOException(full), "No space left on device"),
        Arguments.of(
            new CompletionException(new IOException(new ConnectException("refused"))), "refused"),
        Arguments.of(new IOException("while it was read", full), "while it was read"),
        Arguments.of(new IOException((String) null, full), "No space left on device"),
        Arguments.of(new NoSuchFileException("/a/b"), "/a/b: there is no such file or folder"),
        Arguments.of(new AccessDeniedException("/a"), "/a: access is denied"),
        Arguments.of(new FileSystemException("/a", null, "Is a directory"), "/a: Is a directory"),
        Arguments.of(new ClosedChannelException(), "it was closed meanwhile"),
        Arguments.of(new CompletionException(new TimeoutException()), "it took too long"),
        Arguments.of(new IllegalStateException(), "no reason was given"),
        Arguments.of(new IOException(new IllegalStateException()), "no reason was given"),
        Arguments.of(
            new NullPointerException("Cannot invoke \"java.util.List.size()\""),
            "it is a bug, and the log has its trace"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void itIsWordsAndNoClass(Throwable failure, String words) {
    assertThat(Reason.of(failure))
        .isEqualTo(words)
        .doesNotContain("Exception")
        .doesNotContain("java.");
  }
}
