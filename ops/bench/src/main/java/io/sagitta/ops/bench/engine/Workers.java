// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Starts the contenders' processes and makes their indexes. */
final class Workers {
  /** The same graph for all: M and efConstruction of the published comparisons. */
  static final int M = 16;

  static final int EF_CONSTRUCTION = 200;

  private final Path folder;
  private final PrintStream log;
  private final Map<Peer, String> versions = new EnumMap<>(Peer.class);

  /** What builds of this run took. */
  private final Map<Path, JsonNode> built = new HashMap<>();

  private PythonHome python;

  /**
   * Workers of one run.
   *
   * @param folder takes logs, queries and hits; the caller removes it
   */
  Workers(Path folder, PrintStream log) {
    this.folder = folder;
    this.log = log;
  }

  Path folder() {
    return folder;
  }

  PrintStream log() {
    return log;
  }

  /** A worker of this JVM's class path. */
  Worker jvm(String contender) throws IOException {
    return Worker.start(contender, Peer.java(contender), folder);
  }

  /** A peer's worker; the Python environment is made when the first needs it. */
  Worker start(Peer peer) throws IOException, InterruptedException {
    if (peer.isPython() && python == null) {
      python = PythonHome.prepare(folder, log);
    }
    return Worker.start(peer.id(), peer.command(python), folder);
  }

  /** Name and version of the kernels that score exactly in this run's JVMs. */
  String kernels() throws IOException {
    try (Worker worker = jvm("none")) {
      return worker.ask(Worker.request("about")).path("kernels").asText();
    }
  }

  /** What a peer calls itself. */
  String version(Peer peer) throws IOException, InterruptedException {
    String version = versions.get(peer);
    if (version == null) {
      try (Worker worker = start(peer)) {
        version = worker.ask(Worker.request("about")).path("version").asText();
      }
      versions.put(peer, version);
    }
    return version;
  }

  /** A request about a data set. */
  ObjectNode data(String operation, VectorFile base) {
    return Worker.request(operation)
        .put("base", base.path().toString())
        .put("rows", base.rows())
        .put("dim", base.dimension())
        .put("m", M)
        .put("ef_construction", EF_CONSTRUCTION)
        .put("threads", Runtime.getRuntime().availableProcessors());
  }

  /**
   * A running worker that is ready to search.
   *
   * @param buildSeconds what its index took to build; NaN where that was in an earlier run
   */
  record Opened(Worker worker, double buildSeconds, int buildThreads) implements AutoCloseable {
    @Override
    public void close() {
      worker.close();
    }
  }

  /** Starts a peer and opens its index, which another process built before, now if need be. */
  Opened open(Peer peer, DataSet data) throws IOException, InterruptedException {
    Path index = peer.keepsIndex() ? index(peer, data) : indexOfRun(peer, data);
    JsonNode build = built.getOrDefault(index, Worker.JSON.createObjectNode());
    Worker worker = start(peer);
    worker.ask(data("open", data.base()).put("index", index.toString()));
    return new Opened(
        worker, build.path("seconds").asDouble(Double.NaN), build.path("threads").asInt());
  }

  /** As above; an index that is not kept from run to run is built anew. */
  Opened openAnew(Peer peer, DataSet data) throws IOException, InterruptedException {
    if (!peer.keepsIndex()) {
      DataSet.deleteTree(runFolder(peer, data));
    }
    return open(peer, data);
  }

  private Path runFolder(Peer peer, DataSet data) {
    return folder.resolve(peer.id() + "-" + data.checksum());
  }

  private Path indexOfRun(Peer peer, DataSet data) throws IOException, InterruptedException {
    Path index = runFolder(peer, data);
    if (!Files.exists(index)) {
      Files.createDirectory(index);
      build(peer, data, index, index);
    }
    return index;
  }

  /** Folder of a peer's index of this data, built if it is not there. */
  Path index(Peer peer, DataSet data) throws IOException, InterruptedException {
    String version = version(peer).replaceAll("[^A-Za-z0-9.]+", "-");
    Path parent = DataSet.folder().resolve("indexes");
    Path index =
        parent.resolve(
            String.join(
                "_", peer.id(), version, data.checksum(), "m" + M, "efc" + EF_CONSTRUCTION));
    if (!Files.exists(index)) {
      Files.createDirectories(parent);
      Path temporary = Files.createTempDirectory(parent, "building-");
      try {
        build(peer, data, temporary, index);
        Files.move(temporary, index, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        DataSet.deleteTree(temporary);
      }
    }
    return index;
  }

  /** Builds in a process of its own and remembers under {@code name} what that took. */
  private void build(Peer peer, DataSet data, Path target, Path name)
      throws IOException, InterruptedException {
    log.println(data.name() + ": " + peer + " builds its index");
    try (Worker worker = start(peer)) {
      JsonNode build = worker.ask(data("build", data.base()).put("index", target.toString()));
      built.put(name, build);
      log.printf(
          "%s: %s took %.1f s with %d thread(s)%n",
          data.name(), peer, build.path("seconds").asDouble(), build.path("threads").asInt());
    }
  }
}
