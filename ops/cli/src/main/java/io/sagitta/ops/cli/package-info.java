// SPDX-License-Identifier: Apache-2.0

/**
 * {@code sagitta ctl}: the command line for people and scripts.
 *
 * <p>A command turns its options into the JSON of docs/protocol.md and has it parsed by the very
 * reader that the server uses, so that what is refused here and there is the same; messages are
 * then put into the words of the command line ({@link io.sagitta.ops.cli.OptionWords}). Answers are
 * printed as a table or, with {@code --json}, as one JSON object.
 *
 * <p>Invariants: standard output holds the answer and nothing else, with {@code --json} exactly one
 * object also when the command fails; a failure is one line on standard error; the exit code is the
 * contract's (docs/contract.md, section 6); a trace is shown only with {@code --debug}.
 *
 * <p>Start with {@link io.sagitta.ops.cli.CtlMain}; the commands talk to a cluster only through
 * {@link io.sagitta.ops.cli.Connection}.
 */
package io.sagitta.ops.cli;
