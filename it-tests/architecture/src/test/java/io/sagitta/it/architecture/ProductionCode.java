// SPDX-License-Identifier: Apache-2.0
package io.sagitta.it.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/**
 * The compiled classes of all modules: no tests, nothing generated. Imported once for all rules.
 */
final class ProductionCode {

  /** Main sources of all modules, as {@code io/sagitta/model/PointId.java}. */
  static final Set<String> WRITTEN = writtenFiles();

  /** Every module's code, ops and testkit included. */
  static final JavaClasses ALL = importAll();

  private ProductionCode() {}

  private static JavaClasses importAll() {
    ImportOption noTests =
        location -> !location.contains("/test-classes/") && !location.contains("-tests.jar");
    return new ClassFileImporter()
        .withImportOption(noTests)
        .importPackages("io.sagitta")
        .that(
            DescribedPredicate.describe(
                "are written by hand", type -> WRITTEN.contains(fileOf(type))));
  }

  /** The source of a class, in the terms of {@link #WRITTEN}. */
  static String fileOf(JavaClass type) {
    String file = type.getSource().flatMap(source -> source.getFileName()).orElse("");
    return type.getPackageName().replace('.', '/') + "/" + file;
  }

  private static Set<String> writtenFiles() {
    Set<String> files = new HashSet<>();
    for (Path file : Sources.javaFiles()) {
      if (!Sources.isTest(file)) {
        files.add(Sources.inPackage(file).toString().replace('\\', '/'));
      }
    }
    return files;
  }
}
