// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sagitta.ops.bench.engine.VectorFile;
import io.sagitta.ops.bench.engine.worker.Contender.Aim;
import io.sagitta.ops.bench.engine.worker.Contender.BuildPlan;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Holds one contender and answers requests, a JSON object a line on standard input, an answer a
 * line on standard output. {@code error} in an answer says that the request failed. The operations:
 *
 * <ul>
 *   <li>{@code about}: {@code version}; {@code kernels} that score exactly
 *   <li>{@code build}: base, rows, dim, m, ef_construction, threads, index (an empty folder);
 *       answers seconds and the threads used
 *   <li>{@code open}: the same, with the folder that was built; answers seconds, and the threads
 *       that built where it builds only now
 *   <li>{@code search}: queries, dim, from, to, k, ef, threads, hits (file to write), each (file
 *       for the nanoseconds of every query, optional); answers seconds, and a query's visited
 *       nodes, bytes read and bytes allocated
 *   <li>{@code collect}: collects garbage
 *   <li>{@code truth}: base, rows, dim, queries, k, threads, hits and scores (files to write)
 * </ul>
 */
public final class WorkerMain {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Contender contender;
  private final SearchRun runs = new SearchRun();

  private WorkerMain(Contender contender) {
    this.contender = contender;
  }

  /** Serves until its input ends. The argument names the contender. */
  public static void main(String[] args) throws Exception {
    // Libraries may print: answers have the stream to themselves.
    PrintStream answers = System.out;
    System.setOut(System.err);
    try (Contender contender = Contenders.of(args[0])) {
      WorkerMain worker = new WorkerMain(contender);
      BufferedReader requests =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line; (line = requests.readLine()) != null; ) {
        answers.println(worker.answer(JSON.readTree(line)));
        answers.flush();
      }
    }
  }

  private ObjectNode answer(JsonNode request) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      switch (request.path("op").asText()) {
        case "about" ->
            answer.put("version", contender.version()).put("kernels", ExactTruth.kernels());
        case "build" -> build(request, answer);
        case "open" -> open(request, answer);
        case "search" -> search(request, answer);
        case "collect" -> System.gc();
        case "truth" -> ExactTruth.write(request);
        default -> answer.put("error", "unknown operation");
      }
    } catch (Exception | LinkageError e) {
      e.printStackTrace(System.err);
      answer.put("error", e.toString());
    }
    return answer;
  }

  private void build(JsonNode request, ObjectNode answer) throws Exception {
    long start = System.nanoTime();
    int threads = contender.build(base(request), plan(request), folder(request));
    answer.put("seconds", (System.nanoTime() - start) / 1e9).put("threads", threads);
  }

  private void open(JsonNode request, ObjectNode answer) throws Exception {
    long start = System.nanoTime();
    contender.open(base(request), plan(request), folder(request));
    answer.put("seconds", (System.nanoTime() - start) / 1e9);
  }

  private void search(JsonNode request, ObjectNode answer) throws Exception {
    runs.run(contender, new Aim(request.path("ef").asInt()), request, answer);
  }

  private static Path folder(JsonNode request) {
    return Path.of(request.path("index").asText());
  }

  private static BuildPlan plan(JsonNode request) {
    return new BuildPlan(
        request.path("m").asInt(),
        request.path("ef_construction").asInt(),
        request.path("threads").asInt());
  }

  static VectorFile base(JsonNode request) throws IOException {
    VectorFile base =
        VectorFile.of(Path.of(request.path("base").asText()), request.path("dim").asInt());
    if (base.rows() != request.path("rows").asInt()) {
      throw new IOException(base.path() + " has " + base.rows() + " rows");
    }
    return base;
  }
}
