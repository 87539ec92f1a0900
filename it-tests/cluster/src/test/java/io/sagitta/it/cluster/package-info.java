// SPDX-License-Identifier: Apache-2.0

/** Real processes under faults. */
package io.sagitta.it.cluster;
