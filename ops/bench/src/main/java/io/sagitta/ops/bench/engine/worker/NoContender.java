// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.ops.bench.engine.VectorFile;
import java.nio.file.Path;

/** A worker that computes truths, and shows what a JVM costs without any index. */
final class NoContender implements Contender {

  @Override
  public String version() {
    return "java " + System.getProperty("java.version");
  }

  @Override
  public int build(VectorFile base, BuildPlan plan, Path folder) {
    throw new UnsupportedOperationException("nothing to build");
  }

  @Override
  public void open(VectorFile base, BuildPlan plan, Path folder) {
    throw new UnsupportedOperationException("nothing to open");
  }

  @Override
  public Search search(Aim aim, int k) {
    throw new UnsupportedOperationException("nothing to search");
  }

  @Override
  public void close() {}
}
