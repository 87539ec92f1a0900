// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RaftSettingsTest {

  @Test
  void otherFirstElectionsChangeNothingElse() {
    RaftSettings usual = RaftSettings.shards();
    RaftSettings other = usual.withFirstElections(300, 1_500);

    assertThat(other.firstElectionMinMs()).isEqualTo(300);
    assertThat(other.firstElectionMaxMs()).isEqualTo(1_500);
    assertThat(other.withFirstElections(usual.firstElectionMinMs(), usual.firstElectionMaxMs()))
        .isEqualTo(usual);
  }

  @Test
  void aFirstElectionIsNeverLaterThanAnyOther() {
    RaftSettings quick =
        RaftSettings.shards().withFirstElections(300, 1_500).withElections(250, 500);

    assertThat(quick.firstElectionMinMs()).isEqualTo(250);
    assertThat(quick.firstElectionMaxMs()).isEqualTo(500);
  }

  @Test
  void smallLogStepsChangeNothingElse() {
    RaftSettings usual = RaftSettings.shards();
    RaftSettings small = usual.withLogSteps(64 << 10);

    assertThat(small.preallocatedBytes()).isEqualTo(64 << 10);
    assertThat(small.withLogSteps(8 << 20)).as("steps never grow").isEqualTo(small);
    assertThat(usual.withLogSteps(8 << 20)).isEqualTo(usual);
    assertThat(small.segmentBytesMax()).isEqualTo(usual.segmentBytesMax());
    assertThat(small.checkpointLogBytes()).isEqualTo(usual.checkpointLogBytes());
    assertThat(small.checkpointAgeMs()).isEqualTo(usual.checkpointAgeMs());
  }
}
