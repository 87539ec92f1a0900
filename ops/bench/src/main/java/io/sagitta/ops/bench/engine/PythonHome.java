// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.ops.bench.process.ClusterException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A virtual environment with the pinned Python libraries, made once in the cache folder by {@code
 * python3 -m venv} and pip; its name holds a checksum of the requirements, so another pin makes
 * another environment.
 *
 * @param python the interpreter
 * @param scripts folder of the scripts
 */
record PythonHome(Path python, Path scripts) {
  private static final String REQUIREMENTS = "requirements.txt";
  private static final List<String> SCRIPTS =
      List.of(REQUIREMENTS, "worker.py", "hnswlib_peer.py", "faiss_peer.py", "usearch_peer.py");

  /** Copies the scripts into {@code folder} and makes the environment if it is not there. */
  static PythonHome prepare(Path folder, PrintStream log) throws IOException, InterruptedException {
    for (String script : SCRIPTS) {
      try (InputStream in = PythonHome.class.getResourceAsStream("peers/" + script)) {
        Files.write(folder.resolve(script), in.readAllBytes());
      }
    }
    CRC32C pins = new CRC32C();
    pins.update(Files.readString(folder.resolve(REQUIREMENTS)).getBytes(StandardCharsets.UTF_8));
    Path home =
        DataSet.folder().resolve("python-" + HexFormat.of().toHexDigits((int) pins.getValue()));
    Path python = home.resolve("bin").resolve("python");
    Path complete = home.resolve("complete");
    if (!Files.exists(complete)) {
      log.println("making a Python environment in " + home);
      DataSet.deleteTree(home);
      Files.createDirectories(home.getParent());
      Tool.run(List.of("python3", "-m", "venv", home.toString()), folder, log);
      Tool.run(
          List.of(
              python.toString(),
              "-m",
              "pip",
              "install",
              "--quiet",
              "--disable-pip-version-check",
              "-r",
              REQUIREMENTS),
          folder,
          log);
      Files.createFile(complete);
    }
    if (!Files.isExecutable(python)) {
      throw new ClusterException(python + " is missing: remove " + home + " and run again");
    }
    return new PythonHome(python, folder);
  }

  /** The command line of one library's worker. */
  List<String> command(String peer) {
    return List.of(python.toString(), scripts.resolve("worker.py").toString(), peer);
  }
}
