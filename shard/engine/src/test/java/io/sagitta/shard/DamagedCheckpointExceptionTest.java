// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sagitta.shard.format.Manifest;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DamagedCheckpointExceptionTest {
  @Test
  void aFewBadFilesAreNamedAndManyAreCounted() {
    assertThat(message(2)).endsWith("missing or corrupt: f0, f1");
    assertThat(message(3)).endsWith("missing or corrupt: f0, f1, f2");
    assertThat(message(40))
        .endsWith("missing or corrupt: f0, f1, f2 and 37 more (all are in the log)");
  }

  private static String message(int files) {
    Manifest manifest =
        new Manifest(1, 2, 3, 1, new byte[0], List.of(), OptionalLong.empty(), List.of());
    List<CheckpointFile> bad =
        IntStream.range(0, files).mapToObj(i -> new CheckpointFile("f" + i, 8, 0)).toList();
    return new DamagedCheckpointException("shard-1", manifest, bad).getMessage();
  }
}
