// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.format;

import io.sagitta.shard.CheckpointFile;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of the files in a shard's directory, as the package's description lists them. */
final class ShardFiles {
  static final String TEMPORARY = ".tmp";
  static final String PART = ".part";
  static final String STAGED = ".staged";
  static final String QUARANTINE = "quarantine";

  /** Empty; says that all else in quarantine has been replaced. */
  static final String CASE_CLOSED = QUARANTINE + "/case-closed";

  private static final String UUID_RULE = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  private static final String NUMBER_RULE = "(?:0|[1-9][0-9]{0,18})";
  private static final Pattern MANIFEST = Pattern.compile("manifest\\.(" + NUMBER_RULE + ")");
  private static final Pattern CHECKPOINT_FILE =
      Pattern.compile(
          "sessions\\."
              + NUMBER_RULE
              + "|"
              + UUID_RULE
              + "\\.(?:segment|ids|payload|versions|(?:vectors|lives)\\."
              + NUMBER_RULE
              + ")");

  private static final Pattern GRAPH =
      Pattern.compile("(" + UUID_RULE + ")\\.graph\\." + NUMBER_RULE);

  private ShardFiles() {}

  static String segment(UUID segmentId) {
    return segmentId + ".segment";
  }

  static String ids(UUID segmentId) {
    return segmentId + ".ids";
  }

  static String payload(UUID segmentId) {
    return segmentId + ".payload";
  }

  static String versions(UUID segmentId) {
    return segmentId + ".versions";
  }

  static String vectors(UUID segmentId, int fieldId) {
    return segmentId + ".vectors." + fieldId;
  }

  /** Within the directory of indexes, which is not a checkpoint's. */
  static String graph(UUID segmentId, int fieldId) {
    return segmentId + ".graph." + fieldId;
  }

  /** Whether a file in the directory of indexes is the finished graph of one of these segments. */
  static boolean isGraphOf(String name, Set<UUID> segmentIds) {
    Matcher matcher = GRAPH.matcher(name);
    return matcher.matches() && segmentIds.contains(UUID.fromString(matcher.group(1)));
  }

  static String lives(UUID segmentId, long logIndex) {
    return segmentId + ".lives." + logIndex;
  }

  static String sessions(long logIndex) {
    return "sessions." + logIndex;
  }

  static String manifest(long generation) {
    return "manifest." + generation;
  }

  /** Where bytes of a file from a peer gather. */
  static String part(CheckpointFile file) {
    return file.name() + "." + hex(file.checksum()) + PART;
  }

  /** A file from a peer, complete and verified. */
  static String staged(CheckpointFile file) {
    return file.name() + "." + hex(file.checksum()) + STAGED;
  }

  static String hex(int checksum) {
    return "%08x".formatted(checksum);
  }

  /** Generation of a manifest's name; empty for other names. */
  static OptionalLong generation(String name) {
    Matcher matcher = MANIFEST.matcher(name);
    return matcher.matches()
        ? OptionalLong.of(Long.parseLong(matcher.group(1)))
        : OptionalLong.empty();
  }

  /** Whether a manifest may name such a file. */
  static boolean isCheckpointFile(String name) {
    return CHECKPOINT_FILE.matcher(name).matches();
  }

  /** Whether this package gives files such names. */
  static boolean isOurs(String name) {
    return isCheckpointFile(name) || generation(name).isPresent();
  }

  /** The name without its suffix, or null where it has another. */
  static String without(String suffix, String name) {
    return name.endsWith(suffix) ? name.substring(0, name.length() - suffix.length()) : null;
  }
}
