// SPDX-License-Identifier: Apache-2.0
package io.sagitta.raft.ratis;

import io.sagitta.raft.CheckpointTransfer;
import io.sagitta.raft.GroupId;
import io.sagitta.raft.LogPosition;
import io.sagitta.raft.NoSuchGroup;
import io.sagitta.raft.NotLeader;
import io.sagitta.raft.Overloaded;
import io.sagitta.raft.Peer;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.ReplicatedState;
import io.sagitta.raft.TermProbe;
import io.sagitta.raft.VoterTerm;
import io.sagitta.raft.ratis.HostedGroups.Entry;
import io.sagitta.raft.ratis.HostedGroups.Phase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.ExitUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link RaftHost} on one Ratis server. A process has two: one for the metadata group, one for
 * the shard groups, each with its own port, folder and {@link RaftSettings}.
 *
 * <p>The folder: {@code hosted} (which groups belong here), {@code groups/<uuid>} (one {@link
 * GroupFolder} each), {@code quarantine} (damaged groups that were removed), {@code boot} (always
 * empty: Ratis starts every group that it finds in its storage folder, and fails as a whole if one
 * of them fails; so the server is built over this one and the groups are then added one by one).
 *
 * <p>Threads: {@link #submit} hands over to the submitters, since an append may wait for a lock;
 * results are completed by the completions' threads, never by Ratis'.
 */
public final class RatisRaftHost implements RaftHost {
  private static final Logger LOG = LoggerFactory.getLogger(RatisRaftHost.class);

  /** How Ratis names the thread that waits for a leader to fall silent. */
  private static final String FOLLOWER_THREAD = "-FollowerState";

  /** Room for threads that start while they are counted. */
  private static final int THREADS_SLACK = 16;

  static {
    // Ratis would end the process on any thread's uncaught exception, and replaces the handler.
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    ExitUtils.disableSystemExit();
    ExitUtils.setTerminateOnUncaughtException(false);
    Thread.setDefaultUncaughtExceptionHandler(before);
  }

  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);

  /** For a leader that is closed to be opened again. */
  private static final Duration HAND_OVER_PATIENCE = Duration.ofSeconds(5);

  private final RaftHostConfig config;
  private final StateFactory states;
  private final TermProbe probe;
  private final RaftResources resources;
  private final DirectoryFsync fsync;
  private final Path groupsFolder;
  private final HostedGroups hosted;
  private final RaftServer server;
  private final RaftPeerId self;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final Map<RaftGroupId, HostedGroup> groups = new ConcurrentHashMap<>();
  private final ReadBarrier barrier;
  private final Function<HostedGroup, CompletableFuture<Long>> proposal = this::noop;
  private final InstallGate installs;
  private final Upkeep upkeep;
  private final Membership membership;
  private final Object lifeCycleLock = new Object();
  private volatile boolean closed;

  /**
   * Opens the host: listens, and starts the groups that belong here. A group that cannot start is
   * quarantined and does not hinder the others.
   *
   * @throws IOException if the folder cannot be used or the port cannot be listened on
   */
  public static RatisRaftHost open(
      RaftHostConfig config,
      StateFactory states,
      TermProbe probe,
      CheckpointTransfer transfer,
      RaftResources resources)
      throws IOException {
    DirectoryFsync fsync =
        config.plants().contains(RaftHostConfig.Plant.NO_FSYNC) ? d -> {} : DirectoryFsync.REAL;
    return open(config, states, probe, transfer, resources, fsync);
  }

  static RatisRaftHost open(
      RaftHostConfig config,
      StateFactory states,
      TermProbe probe,
      CheckpointTransfer transfer,
      RaftResources resources,
      DirectoryFsync fsync)
      throws IOException {
    RatisRaftHost host = new RatisRaftHost(config, states, probe, transfer, resources, fsync);
    try {
      host.start();
      return host;
    } catch (IOException | RuntimeException e) {
      host.close();
      throw e;
    }
  }

  private RatisRaftHost(
      RaftHostConfig config,
      StateFactory states,
      TermProbe probe,
      CheckpointTransfer transfer,
      RaftResources resources,
      DirectoryFsync fsync)
      throws IOException {
    this.config = config;
    this.states = states;
    this.probe = probe;
    this.resources = resources;
    this.fsync = fsync;
    this.self = RaftPeerId.valueOf(config.self().id());
    this.groupsFolder = config.directory().resolve("groups");
    Path boot = config.directory().resolve("boot");
    Files.createDirectories(groupsFolder);
    Files.createDirectories(boot);
    fsync.fsync(config.directory());
    this.hosted = HostedGroups.open(config.directory().resolve("hosted"), fsync);
    RaftSettings settings = config.settings();
    this.installs = new InstallGate(transfer, resources, settings.prefetchTimeoutMs());
    this.barrier =
        new ReadBarrier(
            config.self().id(),
            probe,
            Duration.ofMillis(settings.probeTimeoutMs()),
            config.plants().contains(RaftHostConfig.Plant.NO_READ_BARRIER),
            resources.completions,
            resources::after,
            System::nanoTime);
    this.upkeep = new Upkeep(this, settings, resources);
    this.server = build(boot);
    this.membership = new Membership(server, config.self(), clientId, callIds::incrementAndGet);
  }

  private RaftServer build(Path boot) throws IOException {
    RaftProperties properties =
        RatisProperties.of(
            config.settings(),
            boot,
            config.directory().resolve("removed"),
            config.bindHost(),
            config.port());
    if (config.plants().contains(RaftHostConfig.Plant.NO_FSYNC)) {
      RatisProperties.plantNoFsync(properties);
    }
    Parameters parameters = new Parameters();
    parameters.put(SagittaRpc.HOOKS, new Hooks(), PeerHooks.class);
    config.tls().ifPresent(tls -> RatisTls.put(parameters, tls));
    RaftServer built =
        RaftServer.newBuilder()
            .setServerId(self)
            .setStateMachineRegistry(id -> groups.get(id).machine())
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setProperties(properties)
            .setParameters(parameters)
            .build();
    RatisProperties.storageDir(properties, groupsFolder);
    return built;
  }

  private void start() throws IOException {
    try {
      server.start();
    } catch (RuntimeException e) {
      throw new IOException("cannot listen on " + config.bindHost() + ":" + config.port(), e);
    }
    List<CompletableFuture<Void>> starting = new ArrayList<>();
    for (Map.Entry<GroupId, Entry> e : hosted.entries().entrySet()) {
      if (e.getValue().phase() == Phase.REMOVING) {
        finishRemoval(e.getKey(), false);
      } else {
        HostedGroup group = newGroup(e.getKey());
        // Opening states and reading logs is what takes time; Ratis adds one group at a time.
        starting.add(
            CompletableFuture.runAsync(
                () -> startGroup(group, e.getValue()), resources.submitters));
      }
    }
    starting.forEach(CompletableFuture::join);
    upkeep.start();
  }

  // ---- groups

  @Override
  public void create(GroupId group, List<Peer> voters) {
    synchronized (lifeCycleLock) {
      RaftGroupId id = RaftGroupId.valueOf(group.value());
      HostedGroup existing = groups.get(id);
      if (existing != null) {
        existing.failure().ifPresent(f -> LOG.warn("group {} exists and failed: {}", group, f));
        return;
      }
      try {
        GroupFolder folder = GroupFolder.of(groupsFolder, group);
        if (Files.exists(folder.root())) {
          setAside(folder); // not on the list: left over from something else
        }
        hosted.put(group, new Entry(Phase.CREATING, List.copyOf(voters)));
        HostedGroup created = newGroup(group);
        startGroup(created, new Entry(Phase.CREATING, List.copyOf(voters)));
        if (created.failure().isPresent()) {
          HostedGroup.Failure failure = created.failure().get();
          groups.remove(id);
          throw new IOException(failure.text(), failure.cause().orElse(null));
        }
      } catch (IOException e) {
        throw new UncheckedIOException("group " + group + " could not be created", e);
      }
    }
  }

  @Override
  public void remove(GroupId group) {
    synchronized (lifeCycleLock) {
      HostedGroup existing = groups.get(RaftGroupId.valueOf(group.value()));
      boolean damaged = existing != null && existing.divisionEvenIfFailed().isEmpty();
      try {
        Entry entry = hosted.entries().get(group);
        if (entry == null) {
          return;
        }
        hosted.put(group, new Entry(Phase.REMOVING, entry.voters()));
        if (existing != null) {
          existing.retire("removed");
          stopDivision(existing);
          existing.releaseState();
          groups.remove(existing.raftId());
        }
        finishRemoval(group, damaged);
      } catch (IOException e) {
        throw new UncheckedIOException("group " + group + " could not be removed", e);
      }
    }
  }

  private HostedGroup newGroup(GroupId group) {
    HostedGroup made =
        new HostedGroup(
            group, GroupFolder.of(groupsFolder, group), config.settings(), fsync, resources);
    groups.put(made.raftId(), made);
    return made;
  }

  /** Leaves the group running, or failed with the reason. */
  private void startGroup(HostedGroup group, Entry entry) {
    GroupStart start = new GroupStart(group, states, fsync, self.toString());
    group.releaseState();
    try {
      GroupStart.Prepared prepared = start.prepare(entry.phase());
      await(
          server.groupManagementAsync(
              GroupManagementRequest.newAdd(
                  clientId,
                  self,
                  callIds.incrementAndGet(),
                  start.raftGroup(entry.voters(), prepared),
                  false)));
      group.started(server.getDivision(group.raftId()));
      group.measureLog();
      if (entry.phase() == Phase.CREATING) {
        fsync.fsync(group.folder().current());
        fsync.fsync(group.folder().root());
        hosted.put(group.id(), new Entry(Phase.HOSTED, entry.voters()));
      }
    } catch (IOException | RuntimeException e) {
      group.fail("quarantined at start: " + reason(e), e);
      discard(group);
    }
  }

  /** A division that Ratis could not start keeps its lock and threads unless it is closed. */
  private static void discard(HostedGroup group) {
    GroupStateMachine machine = group.machine();
    if (machine == null) {
      return;
    }
    try {
      machine.division().ifPresent(RaftServer.Division::close);
      machine.close();
    } catch (IOException | RuntimeException e) {
      LOG.warn("group {}: closing what did not start", group.id(), e);
    }
  }

  private void stopDivision(HostedGroup group) throws IOException {
    Optional<RaftServer.Division> division = group.divisionEvenIfFailed();
    if (division.isPresent()) {
      await(
          server.groupManagementAsync(
              GroupManagementRequest.newRemove(
                  clientId, self, callIds.incrementAndGet(), group.raftId(), false, false)));
      endFollower(division.get());
    }
  }

  /**
   * A division that closes stops its follower thread without the lock under which a leader that
   * steps down at that moment starts a new one (RaftServerImpl.close of Ratis 3.3.0). Nobody would
   * ever end that one.
   */
  private static void endFollower(RaftServer.Division closed) {
    ThreadGroup group = closed.getThreadGroup();
    Thread[] left = new Thread[group.activeCount() + THREADS_SLACK];
    for (int i = group.enumerate(left, false) - 1; i >= 0; i--) {
      if (left[i].getName().endsWith(FOLLOWER_THREAD)) {
        left[i].interrupt();
      }
    }
  }

  private void finishRemoval(GroupId group, boolean keepForRepair) throws IOException {
    GroupFolder folder = GroupFolder.of(groupsFolder, group);
    if (keepForRepair && Files.exists(folder.root())) {
      setAside(folder);
    } else {
      folder.delete();
    }
    fsync.fsync(groupsFolder);
    hosted.remove(group);
  }

  private void setAside(GroupFolder folder) throws IOException {
    Path quarantine = config.directory().resolve("quarantine");
    Files.createDirectories(quarantine);
    Path target = quarantine.resolve(folder.root().getFileName());
    new GroupFolder(target).delete();
    Files.move(folder.root(), target, StandardCopyOption.ATOMIC_MOVE);
    fsync.fsync(quarantine);
    LOG.warn("set aside {} in {}", folder.root(), target);
  }

  /** Stops a group's division and starts it again from its folder. */
  void restart(HostedGroup group) {
    synchronized (lifeCycleLock) {
      if (closed || groups.get(group.raftId()) != group) {
        return;
      }
      try {
        stopDivision(group);
      } catch (IOException | RuntimeException e) {
        LOG.warn("group {}: stopping for a restart", group.id(), e);
      }
      Entry entry = hosted.entries().get(group.id());
      if (entry != null) {
        group.forgetFailure();
        startGroup(group, entry);
      }
    }
  }

  // ---- repair

  @Override
  public void wantCheckpoint(GroupId group) {
    running(group).machine().wantCheckpoint();
  }

  @Override
  public Optional<Offer> offer(GroupId group) throws IOException {
    HostedGroup here = hostedHere(group);
    Optional<RaftServer.Division> division = here.division();
    if (division.isEmpty()) {
      return Optional.empty();
    }
    // The checkpoint first: the configuration must not be older. And the state's, not the one that
    // Ratis knows: under writes that one's files may be gone before Ratis hears of the next.
    Optional<ReplicatedState.Checkpoint> newest = here.machine().newestCheckpoint();
    if (newest.isEmpty()) {
      return Optional.empty();
    }
    return Membership.committedConfiguration(division.get(), here.folder())
        .map(configuration -> new Offer(newest.get(), configuration));
  }

  @Override
  public void repair(GroupId group, Offer offer) throws IOException {
    ReplicatedState.Checkpoint checkpoint = offer.checkpoint();
    synchronized (lifeCycleLock) {
      HostedGroup damaged = hostedHere(group);
      long wanted =
          damaged
              .failure()
              .map(HostedGroup.Failure::repairIndex)
              .orElse(OptionalLong.empty())
              .orElseThrow(() -> new IllegalStateException("group " + group + " needs no repair"));
      if (checkpoint.position().index() < wanted) {
        throw new IllegalStateException(
            "group %s needs a checkpoint at index %d or later, got one at %s"
                .formatted(group, wanted, checkpoint.position()));
      }
      damaged.awaitClosed(CLOSE_PATIENCE);
      // Not every damage was found at a start, which looks at the log too: see GroupStart.
      LogInspection.check(
          damaged.folder(),
          new LogPosition(0, wanted),
          HighWaterMark.read(damaged.folder().mark()).position());
      new InstallRecord(checkpoint, offer.configuration()).write(damaged.folder().install(), fsync);
      LOG.warn("group {}: repairing it with a checkpoint at {}", group, checkpoint.position());
      restart(damaged);
    }
  }

  @Override
  public void reopen(GroupId group, String why) {
    HostedGroup suspected = hostedHere(group);
    LOG.warn("group {}: closing it to open it again: {}", group, why);
    handOver(suspected);
    synchronized (lifeCycleLock) {
      if (suspected.failure().isPresent()) {
        return; // it is closed, and perhaps being repaired
      }
      suspected.retire(why);
      restart(suspected);
    }
  }

  /** As well as it goes: else the others elect. */
  private void handOver(HostedGroup group) {
    try {
      membership
          .transfer(group, Optional.empty(), HAND_OVER_PATIENCE)
          .orTimeout(HAND_OVER_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    } catch (NotLeader | CompletionException e) {
      LOG.debug("group {}: its leadership was not handed over", group.id(), e);
    }
  }

  // ---- status

  @Override
  public List<GroupStatus> groups() {
    return groups.values().stream().map(this::statusOf).toList();
  }

  @Override
  public Optional<GroupStatus> status(GroupId group) {
    return Optional.ofNullable(groups.get(RaftGroupId.valueOf(group.value()))).map(this::statusOf);
  }

  private GroupStatus statusOf(HostedGroup group) {
    Optional<String> failure = group.failure().map(HostedGroup.Failure::text);
    boolean damaged = group.failure().filter(HostedGroup.Failure::damage).isPresent();
    OptionalLong repairIndex =
        group.failure().map(HostedGroup.Failure::repairIndex).orElse(OptionalLong.empty());
    boolean wantsSpace = group.failure().map(HostedGroup.Failure::wantOfSpace).orElse(false);
    Optional<RaftServer.Division> running = group.division();
    if (running.isEmpty()) {
      return new GroupStatus(
          group.id(),
          Optional.empty(),
          false,
          0,
          -1,
          group.waiters().applied(),
          List.of(),
          group.logBytes(),
          failure,
          damaged,
          repairIndex,
          wantsSpace);
    }
    DivisionInfo info = running.get().getInfo();
    return new GroupStatus(
        group.id(),
        Optional.ofNullable(info.getLeaderId()).map(RaftPeerId::toString),
        info.isLeader() && info.isLeaderReady(),
        info.getCurrentTerm(),
        running.get().getRaftLog().getLastCommittedIndex(),
        group.waiters().applied(),
        peers(running.get().getRaftConf().getCurrentPeers()),
        group.logBytes(),
        failure,
        damaged,
        repairIndex,
        wantsSpace);
  }

  static List<Peer> peers(Collection<RaftPeer> peers) {
    return peers.stream().map(p -> new Peer(p.getId().toString(), p.getAddress())).toList();
  }

  @Override
  public boolean isRunning() {
    return !closed && !server.getLifeCycleState().isClosingOrClosed();
  }

  @Override
  public HostMetrics metrics() {
    int failed = 0;
    int led = 0;
    long logBytes = 0;
    long replayed = 0;
    long pending = 0;
    long pendingBytes = 0;
    long waiters = 0;
    long unapplied = 0;
    long applied = 0;
    int installing = 0;
    long installed = 0;
    for (HostedGroup group : groups.values()) {
      failed += group.failure().isPresent() ? 1 : 0;
      logBytes += group.logBytes();
      replayed += group.bytesReplayed();
      pending += group.pending();
      pendingBytes += group.pendingBytes();
      waiters += group.waiters().size();
      applied += group.appliedCount();
      installing += group.installsRunning();
      installed += group.installedCount();
      Optional<RaftServer.Division> running = group.division();
      if (running.isPresent()) {
        led += running.get().getInfo().isLeader() ? 1 : 0;
        long behind =
            running.get().getRaftLog().getLastCommittedIndex() - group.waiters().applied();
        unapplied += Math.max(0, behind);
      }
    }
    return new HostMetrics(
        groups.size(),
        failed,
        led,
        logBytes,
        replayed,
        pending,
        pendingBytes,
        waiters,
        unapplied,
        applied,
        refused.get(),
        barrier.barriers(),
        barrier.probes(),
        installing,
        installs.sent(),
        installed,
        upkeep.stepDowns());
  }

  // ---- proposing

  @Override
  public CompletableFuture<Committed> submit(GroupId group, ByteBuffer entry) {
    if (entry.remaining() > ENTRY_BYTES_MAX) {
      return CompletableFuture.failedFuture(
          new IllegalArgumentException(
              "entry of " + entry.remaining() + " bytes; at most " + ENTRY_BYTES_MAX));
    }
    HostedGroup target;
    try {
      target = running(group);
    } catch (NoSuchGroup | NotLeader e) {
      return CompletableFuture.failedFuture(e);
    }
    int bytes = Math.max(1, entry.remaining());
    if (!target.tryEnter(bytes)) {
      refused.incrementAndGet();
      return CompletableFuture.failedFuture(
          new Overloaded(
              "group "
                  + group
                  + ": "
                  + target.pending()
                  + " entries of "
                  + target.pendingBytes()
                  + " bytes are in flight"));
    }
    if (!resources.budget.tryTake(bytes)) {
      target.leave(bytes);
      refused.incrementAndGet();
      return CompletableFuture.failedFuture(
          new Overloaded(
              resources.budget.bytesMax() + " bytes of entries are in flight in this process"));
    }
    Submission submission =
        new Submission(callIds.incrementAndGet(), bytes, System.nanoTime(), resources.completions);
    target.enlist(submission);
    ByteString data =
        entry.hasRemaining() ? UnsafeByteOperations.unsafeWrap(entry) : ByteString.EMPTY;
    resources.submitters.execute(() -> propose(target, submission, data));
    return submission.result();
  }

  private void propose(HostedGroup group, Submission submission, ByteString data) {
    CompletableFuture<RaftClientReply> reply;
    try {
      RaftServer.Division division =
          group.division().orElseThrow(() -> new NotLeader("group " + group.id() + " is stopped"));
      RaftClientRequest request =
          RaftClientRequest.newBuilder()
              .setClientId(clientId)
              .setServerId(self)
              .setGroupId(group.raftId())
              .setCallId(submission.callId)
              .setMessage(Message.valueOf(data))
              .setType(RaftClientRequest.writeRequestType())
              .build();
      // The division itself rather than the server, which would take two more hops.
      reply = ((RaftClientAsynchronousProtocol) division).submitClientRequestAsync(request);
    } catch (IOException | RuntimeException e) {
      reply = CompletableFuture.failedFuture(e);
    }
    var _ =
        reply.whenComplete(
            (answer, failure) -> {
              group.delist(submission);
              group.leave(submission.bytes);
              resources.budget.giveBack(submission.bytes);
              if (failure != null) {
                submission.failed(group.id().toString(), unwrap(failure));
              } else if (!answer.isSuccess()) {
                submission.failed(group.id().toString(), answer.getException());
              }
            });
  }

  private CompletableFuture<Long> noop(HostedGroup group) {
    return submit(group.id(), ByteBuffer.allocate(0)).thenApply(c -> c.position().index());
  }

  // ---- reading

  @Override
  public CompletableFuture<Long> readBarrier(
      GroupId group, Optional<VoterTerm> told, Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    return barrierIndex(group, told, timeout)
        .thenCompose(
            index -> awaitApplied(group, index, Duration.ofNanos(deadline - System.nanoTime())));
  }

  private CompletableFuture<Long> barrierIndex(
      GroupId group, Optional<VoterTerm> told, Duration timeout) {
    HostedGroup target;
    try {
      target = hostedHere(group);
      if (target.failure().filter(f -> f.wantOfSpace() && f.ledAlone()).isPresent()) {
        return CompletableFuture.completedFuture(target.waiters().applied());
      }
      target = running(group);
    } catch (NoSuchGroup | NotLeader e) {
      return CompletableFuture.failedFuture(e);
    }
    RaftServer.Division division = target.division().orElseThrow();
    RaftPeerId leader = division.getInfo().getLeaderId();
    if (division.getInfo().isLeader()) {
      return barrier.ask(new LedGroup(target, proposal), told, timeout);
    }
    RaftPeer peer = leader == null ? null : division.getRaftConf().getPeer(leader);
    if (peer == null || leader.equals(self)) {
      return CompletableFuture.failedFuture(
          new NotLeader("group " + group + " has no known leader"));
    }
    return probe
        .leaderBarrier(new Peer(leader.toString(), peer.getAddress()), group, timeout)
        .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
        .exceptionallyCompose(
            failure -> CompletableFuture.failedFuture(barrierFailure(group, leader, failure)));
  }

  private static Throwable barrierFailure(GroupId group, RaftPeerId leader, Throwable failure) {
    Throwable cause = unwrap(failure);
    return cause instanceof NotLeader || cause instanceof TimeoutException
        ? cause
        : new NotLeader("group " + group + ": no barrier from leader " + leader, cause);
  }

  @Override
  public CompletableFuture<Long> leaderReadIndex(GroupId group, Duration timeout) {
    try {
      return barrier
          .ask(new LedGroup(running(group), proposal), Optional.empty(), timeout)
          .whenComplete(
              (index, failure) -> {
                if (failure == null) {
                  upkeep.tellCommit(group, index);
                }
              });
    } catch (NoSuchGroup | NotLeader e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * The term is read from memory, not from disk: a voter raises it under its lock before it answers
   * a candidate, so that whoever counts its vote may also count on seeing its term here afterwards.
   */
  @Override
  public Map<GroupId, Long> terms(List<GroupId> asked) {
    Map<GroupId, Long> terms = new HashMap<>();
    for (GroupId group : asked) {
      HostedGroup here = groups.get(RaftGroupId.valueOf(group.value()));
      if (here == null) {
        continue;
      }
      here.division()
          .filter(d -> d.getInfo().isAlive())
          .filter(
              d ->
                  d.getRaftConf().getCurrentPeers().stream().anyMatch(p -> p.getId().equals(self))
                      || d.getRaftConf().getPreviousPeers().stream()
                          .anyMatch(p -> p.getId().equals(self)))
          .ifPresent(d -> terms.put(group, d.getInfo().getCurrentTerm()));
    }
    return terms;
  }

  @Override
  public CompletableFuture<Long> awaitApplied(GroupId group, long index, Duration timeout) {
    try {
      HostedGroup target = hostedHere(group);
      if (target.failure().map(HostedGroup.Failure::wantOfSpace).orElse(false)
          && target.waiters().applied() >= index) {
        return CompletableFuture.completedFuture(target.waiters().applied());
      }
      return running(group).waiters().await(index, timeout);
    } catch (NoSuchGroup | NotLeader e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public long applied(GroupId group) {
    return hostedHere(group).waiters().applied();
  }

  // ---- membership

  @Override
  public CompletableFuture<List<Peer>> changeVoters(GroupId group, List<Peer> target) {
    try {
      return membership.step(running(group), target);
    } catch (NoSuchGroup | NotLeader e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<Void> transferLeadership(
      GroupId group, Optional<String> heir, Duration timeout) {
    try {
      return membership.transfer(running(group), heir, timeout);
    } catch (NoSuchGroup | NotLeader e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  // ---- ends

  @Override
  public void close() {
    synchronized (lifeCycleLock) {
      if (closed) {
        return;
      }
      closed = true;
    }
    upkeep.close();
    try {
      server.close();
    } catch (IOException e) {
      LOG.warn("closing the Raft server", e);
    }
    groups.values().forEach(g -> g.awaitClosed(CLOSE_PATIENCE));
    groups.values().forEach(g -> g.divisionEvenIfFailed().ifPresent(RatisRaftHost::endFollower));
    groups.values().forEach(HostedGroup::releaseState);
    groups.values().forEach(g -> g.waiters().failAll(new NotLeader("closing")));
  }

  // ---- inner parts

  boolean planted(RaftHostConfig.Plant plant) {
    return config.plants().contains(plant);
  }

  Collection<HostedGroup> hostedGroups() {
    return groups.values();
  }

  /** For upkeep and tests. */
  Optional<HostedGroup> hostedGroup(GroupId group) {
    return Optional.ofNullable(groups.get(RaftGroupId.valueOf(group.value())));
  }

  Membership membership() {
    return membership;
  }

  RaftServer server() {
    return server;
  }

  ClientId clientId() {
    return clientId;
  }

  long nextCallId() {
    return callIds.incrementAndGet();
  }

  private HostedGroup hostedHere(GroupId group) {
    HostedGroup here = groups.get(RaftGroupId.valueOf(group.value()));
    if (here == null) {
      throw new NoSuchGroup("group " + group + " is not hosted here");
    }
    return here;
  }

  private HostedGroup running(GroupId group) {
    HostedGroup here = hostedHere(group);
    if (closed) {
      throw new NotLeader("this process is closing");
    }
    if (here.division().isEmpty()) {
      throw new NotLeader(
          "group "
              + group
              + " is stopped: "
              + here.failure().map(HostedGroup.Failure::text).orElse("starting"));
    }
    return here;
  }

  private static RaftClientReply await(CompletableFuture<RaftClientReply> future)
      throws IOException {
    RaftClientReply reply;
    try {
      reply = future.join();
    } catch (CompletionException e) {
      Throwable cause = unwrap(e);
      throw cause instanceof IOException io ? io : new IOException(cause);
    }
    if (!reply.isSuccess()) {
      throw reply.getException();
    }
    return reply;
  }

  /** The first words that a failure or one of its causes has; never the name of a class. */
  static String reason(Throwable e) {
    for (Throwable at = e; at != null; at = at.getCause()) {
      boolean causesOwn = at.getCause() != null && at.getCause().toString().equals(at.getMessage());
      if (at.getMessage() != null && !causesOwn) {
        return at.getMessage();
      }
    }
    return "no reason was given";
  }

  static Throwable unwrap(Throwable e) {
    Throwable cause = e;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** What Ratis' parts reach of this host. */
  private final class Hooks implements PeerHooks {
    @Override
    public Optional<HostedGroup> group(RaftGroupId group) {
      return Optional.ofNullable(groups.get(group));
    }

    @Override
    public InstallGate installs() {
      return installs;
    }

    @Override
    public void stepDown(HostedGroup group, String why) {
      upkeep.stepDown(group, why);
    }

    @Override
    public void appenderStarted(PrefetchingLogAppender appender) {
      upkeep.watch(appender);
    }

    @Override
    public void appenderStopped(PrefetchingLogAppender appender) {
      upkeep.unwatch(appender);
    }
  }
}
