// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.sagitta.node.http.Health;
import io.sagitta.node.replica.LocalShards;
import io.sagitta.raft.RaftHost;
import io.sagitta.raft.RaftHost.HostMetrics;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The figures of a node for {@code /metrics}, beside those of requests. Each is named here, so
 * their number is fixed: nothing is labelled with a collection, a shard or a user's text.
 */
final class NodeMetrics {
  private final MetricRegistry registry;
  private final Member member;
  private final NodeThreads threads;
  private final BufferAllocator memory;
  private final Supplier<Health> health;

  NodeMetrics(
      MetricRegistry registry,
      Member member,
      NodeThreads threads,
      BufferAllocator memory,
      Supplier<Health> health) {
    this.registry = registry;
    this.member = member;
    this.threads = threads;
    this.memory = memory;
    this.health = health;
  }

  void register() {
    gauge("sagitta_ready", () -> health.get().ready() ? 1 : 0);
    gauge("sagitta_uptime_seconds", () -> ManagementFactory.getRuntimeMXBean().getUptime() / 1_000);
    gauge("sagitta_cluster_nodes", () -> member.cluster().state().nodes().size());
    gauge("sagitta_cluster_collections", () -> member.cluster().state().collections().size());
    gauge("sagitta_cluster_epoch", () -> member.cluster().state().epoch());
    for (String part : member.memoryParts().keySet()) {
      gauge("sagitta_memory_bytes{part=\"" + part + "\"}", () -> member.memoryParts().get(part));
    }
    gauge("sagitta_arrow_bytes", memory::getAllocatedMemory);
    gauge("sagitta_arrow_peak_bytes", memory::getPeakMemoryAllocation);
    gauge("sagitta_disk_total_bytes", () -> member.disk().totalBytes());
    gauge("sagitta_disk_free_bytes", () -> member.disk().freeBytes());
    gauge("sagitta_search_threads_busy", threads.search::getActiveCount);
    gauge("sagitta_search_queue_length", () -> threads.search.getQueue().size());
    gauge("sagitta_background_queue_length", () -> threads.background.getQueue().size());
    gauge("sagitta_writes_in_flight_bytes", () -> member.admission().bytesInFlight());
    gauge("sagitta_writes_refused_total", () -> member.admission().refused());
    gauge(
        "sagitta_writes_slowed_millis_total",
        () -> member.shards().map(LocalShards::slowedMillis).orElse(0L));
    gauge("sagitta_index_waiting_bytes", () -> member.replicas().indexWaitingBytes());
    gauge("sagitta_replica_damage_found_total", () -> member.scrub().found());
    gauge("sagitta_replica_repairs_open", () -> member.repairs().open());
    gauge("sagitta_replica_repairs_total", () -> member.repairs().repaired());
    gauge("sagitta_replica_repair_rounds_failed_total", () -> member.repairs().failedRounds());
    raft("metadata", member.metaHost());
    raft("shards", member.shardHost());
    jvm();
  }

  private void raft(String host, RaftHost raft) {
    raft("groups", host, raft, HostMetrics::groups);
    raft("groups_failed", host, raft, HostMetrics::groupsFailed);
    raft("groups_led", host, raft, HostMetrics::groupsLed);
    raft("log_bytes", host, raft, HostMetrics::logBytes);
    raft("log_replayed_bytes_total", host, raft, HostMetrics::logBytesReplayed);
    raft("pending_entries", host, raft, HostMetrics::pendingEntries);
    raft("pending_bytes", host, raft, HostMetrics::pendingBytes);
    raft("waiters", host, raft, HostMetrics::waiters);
    raft("unapplied_entries", host, raft, HostMetrics::unappliedEntries);
    raft("entries_applied_total", host, raft, HostMetrics::entriesApplied);
    raft("refused_total", host, raft, HostMetrics::refusedOverload);
    raft("read_barriers_total", host, raft, HostMetrics::barriers);
    raft("term_probes_total", host, raft, HostMetrics::probes);
    raft("installs_running", host, raft, HostMetrics::installsRunning);
    raft("installs_sent_total", host, raft, HostMetrics::installsSent);
    raft("installs_received_total", host, raft, HostMetrics::installsReceived);
    raft("step_downs_total", host, raft, HostMetrics::stepDowns);
  }

  private void raft(String name, String host, RaftHost raft, ToLongFunction<HostMetrics> figure) {
    gauge(
        "sagitta_raft_" + name + "{host=\"" + host + "\"}",
        () -> figure.applyAsLong(raft.metrics()));
  }

  private void jvm() {
    gauge("sagitta_jvm_threads", () -> ManagementFactory.getThreadMXBean().getThreadCount());
    gauge(
        "sagitta_jvm_gc_millis_total",
        () ->
            ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum());
  }

  private void gauge(String name, Gauge<? extends Number> value) {
    registry.register(name, value);
  }
}
