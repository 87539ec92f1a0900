// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.shard.hnsw.Traversal;

/** The contenders of the JVM by name. */
final class Contenders {
  private Contenders() {}

  static Contender of(String name) {
    return switch (name) {
      case "lucene" -> LuceneContender.float32();
      case "lucene-8bit" -> LuceneContender.quantised(8);
      case "lucene-4bit" -> LuceneContender.quantised(4);
      case "jvector" -> new JVectorContender();
      case "sagitta" -> new SagittaContender(Traversal.FOUR);
      case "sagitta-8bit" -> new SagittaContender(Traversal.EIGHT);
      case "none" -> new NoContender();
      default -> throw new IllegalArgumentException("no contender '" + name + "'");
    };
  }
}
