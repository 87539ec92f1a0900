// SPDX-License-Identifier: Apache-2.0
package io.sagitta.shard.log;

import io.sagitta.model.FilterText;
import io.sagitta.shard.log.proto.Filter;
import io.sagitta.shard.log.proto.Value;
import io.sagitta.shard.log.proto.ValueList;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * Filters with their parameters as they lie in log entries: every value exactly as it was given.
 */
final class FilterCodec {
  private FilterCodec() {}

  static Filter toProto(FilterText filter) {
    Filter.Builder out = Filter.newBuilder().setText(filter.text());
    filter.params().forEach(value -> out.addParams(toProto(value)));
    return out.build();
  }

  static FilterText fromProto(Filter filter) {
    return new FilterText(filter.getText(), fromProto(filter.getParamsList()));
  }

  private static Value toProto(Object value) {
    Value.Builder out = Value.newBuilder();
    return switch (value) {
      case null -> out.setNull(true).build();
      case Boolean v -> out.setBoolean(v).build();
      case Long v -> out.setInt64(v).build();
      case BigInteger v -> out.setInteger(v.toString()).build();
      case Double v -> out.setFloat64(v).build();
      case BigDecimal v -> out.setDecimal(v.toString()).build();
      case String v -> out.setText(v).build();
      case List<?> v -> {
        ValueList.Builder list = ValueList.newBuilder();
        v.forEach(element -> list.addValues(toProto(element)));
        yield out.setList(list).build();
      }
      default ->
          throw new IllegalArgumentException(
              "a filter's parameter is neither a scalar nor a list of scalars");
    };
  }

  private static Object fromProto(Value value) {
    return switch (value.getKindCase()) {
      case NULL -> null;
      case BOOLEAN -> value.getBoolean();
      case INT64 -> value.getInt64();
      case INTEGER -> new BigInteger(value.getInteger());
      case FLOAT64 -> value.getFloat64();
      case DECIMAL -> new BigDecimal(value.getDecimal());
      case TEXT -> value.getText();
      case LIST -> fromProto(value.getList().getValuesList());
      case KIND_NOT_SET -> throw new IllegalArgumentException("a parameter has no value");
    };
  }

  private static List<Object> fromProto(List<Value> values) {
    List<Object> out = new ArrayList<>(values.size());
    values.forEach(value -> out.add(fromProto(value)));
    return out;
  }
}
