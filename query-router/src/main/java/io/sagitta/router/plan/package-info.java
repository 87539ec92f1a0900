// SPDX-License-Identifier: Apache-2.0

/** Pure plans: what to ask of whom. */
package io.sagitta.router.plan;
