// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node.placement;

import com.google.protobuf.InvalidProtocolBufferException;
import io.sagitta.node.SmallFile;
import io.sagitta.node.placement.proto.Command;
import io.sagitta.node.placement.proto.State;
import io.sagitta.raft.DamageException;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.ReplicatedState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata group's replicated state: holds the present {@link ClusterState}, replaces it by
 * {@link Transition}, and writes it whole into one small file as its checkpoint. The manifest of a
 * checkpoint is that same content, so an install needs no other file.
 *
 * <p>Happens-before: one thread at a time applies and installs; {@link #current} is volatile, so a
 * reader that saw an entry applied sees its state.
 */
public final class MetaState implements ReplicatedState {
  private static final Logger log = LoggerFactory.getLogger(MetaState.class);

  private final SmallFile file;
  private final Consumer<ClusterState> listener;
  private final LogPosition recovered;

  private volatile ClusterState current;
  private volatile Optional<Checkpoint> checkpoint;
  private LogPosition position; // apply thread

  private MetaState(
      SmallFile file,
      Consumer<ClusterState> listener,
      ClusterState state,
      Optional<Checkpoint> checkpoint) {
    this.file = file;
    this.listener = listener;
    this.current = state;
    this.checkpoint = checkpoint;
    this.recovered = checkpoint.map(Checkpoint::position).orElse(LogPosition.NONE);
    this.position = recovered;
  }

  /**
   * Opens the state in a folder.
   *
   * @param listener told every new state, on the apply thread; must return soon
   */
  public static MetaState open(Path folder, Consumer<ClusterState> listener) throws IOException {
    Files.createDirectories(folder);
    SmallFile file = new SmallFile(folder.resolve("checkpoint"), "SGMETAST", 1);
    Optional<byte[]> content = file.read();
    if (content.isEmpty()) {
      return new MetaState(file, listener, ClusterState.EMPTY, Optional.empty());
    }
    try {
      Checkpoint checkpoint = checkpoint(content.get());
      ClusterState state = Wire.state(State.parseFrom(content.get()));
      listener.accept(state);
      return new MetaState(file, listener, state, Optional.of(checkpoint));
    } catch (InvalidProtocolBufferException e) {
      throw new DamageException(file.path() + " holds no state of a cluster", e);
    }
  }

  /** The state at the last applied entry. Any thread. */
  public ClusterState current() {
    return current;
  }

  @Override
  public LogPosition recovered() {
    return recovered;
  }

  @Override
  public byte[] apply(LogPosition at, ByteBuffer entry) throws IOException {
    Command command;
    try {
      command = Command.parseFrom(entry);
    } catch (InvalidProtocolBufferException e) {
      throw new IOException("metadata entry " + at + " cannot be read", e);
    }
    try {
      Transition transition = Transition.apply(current, command);
      position = at;
      publish(transition.state());
      return transition.outcome().toByteArray();
    } catch (Transition.UnknownCommand e) {
      throw new IOException("entry " + at + ": " + e.getMessage(), e);
    }
  }

  @Override
  public Optional<Checkpoint> checkpointed() {
    return checkpoint;
  }

  /** Writes at once: the state is small, and the group is never busy. */
  @Override
  public void requestCheckpoint() {
    if (checkpoint.map(Checkpoint::position).orElse(LogPosition.NONE).equals(position)) {
      return;
    }
    byte[] content =
        Wire.state(current).toBuilder()
            .setTerm(position.term())
            .setIndex(position.index())
            .build()
            .toByteArray();
    try {
      file.write(content);
      checkpoint = Optional.of(new Checkpoint(position, content));
    } catch (IOException e) {
      log.warn("Metadata checkpoint at {} not written; it is tried again later", position, e);
    }
  }

  /** A checkpoint's manifest is all there is to it. */
  @Override
  public boolean holds(Checkpoint announced) {
    return true;
  }

  @Override
  public void install(Checkpoint announced) throws IOException {
    ClusterState state = Wire.state(State.parseFrom(announced.manifest()));
    file.write(announced.manifest());
    checkpoint = Optional.of(announced);
    position = announced.position();
    publish(state);
  }

  @Override
  public void close() {}

  private void publish(ClusterState state) {
    current = state;
    listener.accept(state);
  }

  private static Checkpoint checkpoint(byte[] content) throws IOException {
    State state = State.parseFrom(content);
    return new Checkpoint(new LogPosition(state.getTerm(), state.getIndex()), content);
  }
}
