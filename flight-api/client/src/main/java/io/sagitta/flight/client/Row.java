// SPDX-License-Identifier: Apache-2.0
package io.sagitta.flight.client;

import io.sagitta.model.PointId;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * One row of an answer.
 *
 * @param query which query vector of the search found it, from 0
 * @param id the point
 * @param score of a search; absent elsewhere
 * @param version the point's version, as conditions name it
 * @param fields values by field, in the answer's order; see {@link Values} for their types
 */
public record Row(
    int query, PointId id, OptionalDouble score, long version, Map<String, Object> fields) {}
