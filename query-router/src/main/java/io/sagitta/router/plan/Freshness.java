// SPDX-License-Identifier: Apache-2.0
package io.sagitta.router.plan;

import io.sagitta.flight.Command.Consistency;
import io.sagitta.model.CommitToken;
import io.sagitta.model.ReadMode;
import io.sagitta.model.SagittaException;
import io.sagitta.model.ShardId;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * How fresh a read must be on each shard.
 *
 * @param level the level asked for
 * @param token what a session read must see at least; shards that are not in it are bound by
 *     nothing
 * @param maxStalenessMs bound of a bounded read
 */
public record Freshness(Consistency.Level level, CommitToken token, long maxStalenessMs) {

  /**
   * Reads what was asked.
   *
   * @throws SagittaException INVALID_ARGUMENT for a malformed token, and where a level lacks its
   *     bound
   */
  public static Freshness of(Consistency asked) {
    CommitToken token = asked.token().map(CommitToken::parse).orElse(CommitToken.EMPTY);
    if (asked.level() == Consistency.Level.SESSION && asked.token().isEmpty()) {
      throw SagittaException.invalid("consistency 'session' needs 'token'");
    }
    if (asked.level() == Consistency.Level.BOUNDED && asked.maxStalenessMs().isEmpty()) {
      throw SagittaException.invalid("consistency 'bounded' needs 'max_staleness_ms'");
    }
    return new Freshness(asked.level(), token, asked.maxStalenessMs().orElse(0));
  }

  /** The mode of a read of the shard. */
  public ReadMode mode(ShardId shard) {
    return switch (level) {
      case STRONG -> ReadMode.STRONG;
      case SESSION -> atLeast(token.index(shard));
      case BOUNDED -> new ReadMode.Bounded(maxStalenessMs);
      case ANY -> ReadMode.ANY;
    };
  }

  /**
   * The mode of a read that goes on where another stopped: also not older than that one, where the
   * level does not promise it anyway. A bounded read stays bounded by time alone.
   */
  public ReadMode modeAfter(ShardId shard, CommitToken seen) {
    return switch (level) {
      case STRONG -> ReadMode.STRONG;
      case BOUNDED -> new ReadMode.Bounded(maxStalenessMs);
      case SESSION, ANY -> atLeast(token.merge(seen).index(shard));
    };
  }

  /** The level as requests name it. */
  public String text() {
    return level.name().toLowerCase(Locale.ROOT);
  }

  private static ReadMode atLeast(OptionalLong index) {
    return index.isPresent() ? new ReadMode.Session(index.getAsLong()) : ReadMode.ANY;
  }
}
