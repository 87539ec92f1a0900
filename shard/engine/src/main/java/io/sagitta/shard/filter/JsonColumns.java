// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.filter;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.sagitta.model.filter.Bytes;
import io.sagitta.model.filter.Filter.Op;
import io.sagitta.model.filter.Literal;
import io.sagitta.model.filter.Predicate;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;

/**
 * Paths into JSON documents, parsed row by row: right, and slow until an index pays for it. Numbers
 * compare exactly; a text that is no JSON holds nothing at any path.
 */
final class JsonColumns {
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private JsonColumns() {}

  static Truths compare(FieldVector vector, Predicate.JsonCompare compare, int rows) {
    return each(vector, rows, compare.steps(), node -> holds(node, compare.op(), compare.value()));
  }

  static Truths prefix(FieldVector vector, Predicate.JsonPrefix prefix, int rows) {
    return each(
        vector,
        rows,
        prefix.steps(),
        node ->
            node.isTextual()
                ? Optional.of(node.textValue().startsWith(prefix.prefix()))
                : Optional.empty());
  }

  static Truths isNull(FieldVector vector, Predicate.JsonIsNull isNull, int rows) {
    VarCharVector documents = (VarCharVector) vector;
    Truths truths = new Truths(rows);
    for (int word = 0; word < truths.yes.length; word++) {
      long present = Truths.rowsOf(word, rows);
      long valid = Validity.word(vector, word, rows);
      long hits = ~valid & present;
      for (long left = valid; left != 0; left &= left - 1) {
        int row = (word << 6) + Long.numberOfTrailingZeros(left);
        JsonNode node = walk(parse(documents.get(row)), isNull.steps());
        if (node.isMissingNode() || node.isNull()) {
          hits |= 1L << row;
        }
      }
      truths.set(word, hits, present);
    }
    return truths;
  }

  private static Truths each(
      FieldVector vector,
      int rows,
      List<String> steps,
      Function<JsonNode, Optional<Boolean>> test) {
    VarCharVector documents = (VarCharVector) vector;
    Truths truths = new Truths(rows);
    for (int word = 0; word < truths.yes.length; word++) {
      long hits = 0;
      long known = 0;
      for (long left = Validity.word(vector, word, rows); left != 0; left &= left - 1) {
        int row = (word << 6) + Long.numberOfTrailingZeros(left);
        Optional<Boolean> holds = test.apply(walk(parse(documents.get(row)), steps));
        if (holds.isPresent()) {
          known |= 1L << row;
          hits |= (holds.get() ? 1L : 0L) << row;
        }
      }
      truths.set(word, hits, known);
    }
    return truths;
  }

  private static JsonNode parse(byte[] document) {
    try {
      return JSON.readTree(new String(document, StandardCharsets.UTF_8));
    } catch (JsonProcessingException e) {
      return MissingNode.getInstance();
    }
  }

  private static JsonNode walk(JsonNode root, List<String> steps) {
    JsonNode node = root;
    for (String step : steps) {
      if (!step.startsWith("#")) {
        node = node.path(step);
      } else if (step.startsWith("##")) {
        node = node.path(step.substring(1));
      } else {
        node = node.path(Integer.parseInt(step.substring(1)));
      }
    }
    return node;
  }

  private static Optional<Boolean> holds(JsonNode node, Op op, Literal value) {
    return switch (value) {
      case Literal.Num(var number) ->
          node.isNumber()
              ? Optional.of(fits(op, node.decimalValue().compareTo(number)))
              : Optional.empty();
      case Literal.Text(var text) ->
          node.isTextual()
              ? Optional.of(fits(op, Bytes.utf8(node.textValue()).compareTo(Bytes.utf8(text))))
              : Optional.empty();
      case Literal.Bool(var bool) ->
          node.isBoolean()
              ? Optional.of(fits(op, Boolean.compare(node.booleanValue(), bool)))
              : Optional.empty();
      case Literal.Hex _, Literal.Null _ -> Optional.empty();
    };
  }

  private static boolean fits(Op op, int order) {
    return switch (op) {
      case EQ -> order == 0;
      case LT -> order < 0;
      case LE -> order <= 0;
      case GT -> order > 0;
      case GE -> order >= 0;
    };
  }
}
