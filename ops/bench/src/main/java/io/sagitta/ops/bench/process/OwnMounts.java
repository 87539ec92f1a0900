// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The file systems that this object has seen appear at places it was told of, and no others. root's
 * {@code umount} takes away whatever it finds behind the words it is given: a path that is no mount
 * point may lead it to a device, and from there to a mount somebody else relies on. So a place is
 * unmounted only while the kernel's own table says that the mount at exactly this place is the very
 * one entered here. Not safe for several threads.
 */
final class OwnMounts {
  /** The kernel's table of this process: one line a mount, the later ones above the earlier. */
  private static final Path TABLE = Path.of("/proc/self/mountinfo");

  /** Runs a command; a failure is thrown. */
  interface Command {
    void run(List<String> words) throws InterruptedException;
  }

  private final Path table;
  private final Command command;

  /** The kernel's number of the mount that was made at a place. */
  private final Map<Path, Integer> entered = new HashMap<>();

  OwnMounts(Command command) {
    this(TABLE, command);
  }

  OwnMounts(Path table, Command command) {
    this.table = table;
    this.command = command;
  }

  /** Whether anything is mounted at exactly this place. */
  boolean isMounted(Path place) {
    return topmost(place).isPresent();
  }

  /**
   * Enters the mount that has just been made at a place; nothing may have been mounted there
   * before.
   *
   * @throws ClusterException when there is none
   */
  void enter(Path place) {
    entered.put(
        place,
        topmost(place).orElseThrow(() -> new ClusterException("nothing was mounted at " + place)));
  }

  /**
   * Unmounts a place if what is mounted there was entered; otherwise does nothing.
   *
   * @param lazily also while files are open on it
   * @return whether it did
   */
  boolean unmount(Path place, boolean lazily) throws InterruptedException {
    Integer own = entered.remove(place);
    OptionalInt found = topmost(place);
    if (own == null || found.isEmpty() || found.getAsInt() != own) {
      return false;
    }
    List<String> words = new ArrayList<>(List.of("umount", "--no-canonicalize"));
    if (lazily) {
      words.add("--lazy");
    }
    words.add(place.toString());
    command.run(words);
    return true;
  }

  /** The number of the mount that is seen at a place. */
  private OptionalInt topmost(Path place) {
    OptionalInt found = OptionalInt.empty();
    try {
      for (String line : Files.readAllLines(table, StandardCharsets.UTF_8)) {
        // number, parent's number, device, root within it, place, options, ...
        String[] columns = line.split(" ");
        if (unescaped(columns[4]).equals(place.toString())) {
          found = OptionalInt.of(Integer.parseInt(columns[0]));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the table of mounts cannot be read", e);
    }
    return found;
  }

  /** Blanks, tabs, line ends and backslashes stand there in octal. */
  private static String unescaped(String text) {
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '\\' && i + 3 < text.length()) {
        plain.append((char) Integer.parseInt(text.substring(i + 1, i + 4), 8));
        i += 3;
      } else {
        plain.append(text.charAt(i));
      }
    }
    return plain.toString();
  }
}
