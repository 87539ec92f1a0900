// SPDX-License-Identifier: Apache-2.0
package io.sagitta.ops.bench.engine.worker;

import io.sagitta.model.VectorType;
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
      case "sagitta" -> new SagittaContender(Traversal.FOUR, VectorType.FLOAT32, true);
      case "sagitta-rows" -> new SagittaContender(Traversal.FOUR, VectorType.FLOAT32, false);
      case "sagitta-8bit" -> new SagittaContender(Traversal.EIGHT, VectorType.FLOAT32, false);
      case "sagitta-float16" -> new SagittaContender(Traversal.FOUR, VectorType.FLOAT16, true);
      case "sagitta-bfloat16" -> new SagittaContender(Traversal.FOUR, VectorType.BFLOAT16, true);
      case "sagitta-int8" -> new SagittaContender(Traversal.FOUR, VectorType.INT8, true);
      case "none" -> new NoContender();
      default -> throw new IllegalArgumentException("no contender '" + name + "'");
    };
  }
}
