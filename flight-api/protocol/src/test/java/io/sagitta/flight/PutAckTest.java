// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sagitta.flight.PutAck.Reject;
import io.sagitta.flight.PutAck.ShardAck;
import io.sagitta.model.ErrorCode;
import io.sagitta.model.SagittaException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class PutAckTest {
  @Test
  void answersComeBackAsTheyWere() {
    PutAck done =
        new PutAck.Done(
            OptionalLong.of(5),
            3,
            List.of(new ShardAck(0, "applied", 9), new ShardAck(1, "sagitta.UNAVAILABLE", -1)),
            List.of(new Reject(2, ErrorCode.CONFLICT, "version is 7, expected 6")),
            "token");
    for (PutAck ack : List.of(new PutAck.Ready(), new PutAck.Rotate(), done)) {
      assertThat(PutAck.parse(ack.toJson())).isEqualTo(ack);
    }
    assertThat(new String(done.toJson(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"seq\":5,\"rows\":3,\"shards\":[{\"shard\":0,\"outcome\":\"applied\",\"index\":9},"
                + "{\"shard\":1,\"outcome\":\"sagitta.UNAVAILABLE\",\"index\":-1}],"
                + "\"rejects\":[{\"row\":2,\"code\":\"sagitta.CONFLICT\","
                + "\"message\":\"version is 7, expected 6\"}],\"token\":\"token\"}");
  }

  @Test
  void aFailedBatchKeepsItsErrorAndItsWait() {
    SagittaException error = new SagittaException(ErrorCode.UNAVAILABLE, "busy", 40, null);
    PutAck.Failed failed =
        (PutAck.Failed) PutAck.parse(new PutAck.Failed(OptionalLong.of(1), error).toJson());
    assertThat(failed.seq()).hasValue(1);
    assertThat(failed.error().code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(failed.error().retryAfterMs()).hasValue(40);
  }

  @Test
  void bytesThatAreNoJsonAreInternal() {
    assertThatThrownBy(() -> PutAck.parse(new byte[] {1}))
        .extracting(e -> ((SagittaException) e).code())
        .isEqualTo(ErrorCode.INTERNAL);
  }
}
