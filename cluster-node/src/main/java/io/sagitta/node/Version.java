// SPDX-License-Identifier: Apache-2.0
package io.sagitta.node;

/** What this software calls itself. */
final class Version {
  private Version() {}

  /** The version in the jar's manifest; {@code dev} where there is no jar. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }
}
