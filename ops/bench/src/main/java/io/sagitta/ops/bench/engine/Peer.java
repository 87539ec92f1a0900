// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The contenders. */
enum Peer {
  SAGITTA("sagitta", Runtime.JVM),
  SAGITTA_ROWS("sagitta-rows", Runtime.JVM),
  SAGITTA_8BIT("sagitta-8bit", Runtime.JVM),
  SAGITTA_FLOAT16("sagitta-float16", Runtime.JVM),
  SAGITTA_BFLOAT16("sagitta-bfloat16", Runtime.JVM),
  SAGITTA_INT8("sagitta-int8", Runtime.JVM),
  HNSWLIB("hnswlib", Runtime.PYTHON),
  FAISS_FLAT("faiss-flat", Runtime.PYTHON),
  FAISS_SQ8("faiss-sq8", Runtime.PYTHON),
  USEARCH("usearch", Runtime.PYTHON),
  LUCENE("lucene", Runtime.JVM),
  LUCENE_8BIT("lucene-8bit", Runtime.JVM),
  LUCENE_4BIT("lucene-4bit", Runtime.JVM),
  JVECTOR("jvector", Runtime.JVM);

  /** What runs it. */
  enum Runtime {
    PYTHON,
    JVM
  }

  /** By name: this side talks to the contenders' side through a pipe, and through nothing else. */
  private static final String WORKER_MAIN = "io.sagitta.ops.bench.engine.worker.WorkerMain";

  private final String id;
  private final Runtime runtime;

  Peer(String id, Runtime runtime) {
    this.id = id;
    this.runtime = runtime;
  }

  /** Name in options and reports. */
  String id() {
    return id;
  }

  @Override
  public String toString() {
    return id;
  }

  /** The peer of a name. */
  static Peer of(String id) {
    return Arrays.stream(values())
        .filter(peer -> peer.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no peer '" + id + "'"));
  }

  boolean isSagitta() {
    return id.startsWith(SAGITTA.id);
  }

  boolean isPython() {
    return runtime == Runtime.PYTHON;
  }

  /**
   * Whether an index is kept from run to run. Sagitta's is built anew for every launch: code and
   * graph change with the source, and builds are part of what is measured.
   */
  boolean keepsIndex() {
    return !isSagitta();
  }

  /** The command line of its worker. */
  List<String> command(PythonHome python) {
    return switch (runtime) {
      case PYTHON -> python.command(id);
      case JVM -> java(id);
    };
  }

  /** A JVM of the same version and class path as this one, with the flags that a node gets. */
  static List<String> java(String contender) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            // Small at first, so that a collection gives back what the figure of memory is not
            // about.
            "-Xms64m",
            "-Xmx4g",
            // Java's own kernels: measured faster than JVector's native ones on this lane's data.
            "-Djvector.vectorization_provider=panama",
            "-Dlogback.configurationFile=bench-logback.xml",
            "-cp",
            System.getProperty("java.class.path"),
            WORKER_MAIN,
            contender));
    return command;
  }
}
