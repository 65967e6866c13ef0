import type { Decision, HaltReason } from '../../loop/index.ts';
import type { ErrorInfo, ErrorKind } from '../../wire/errors.ts';

/** The exit code of each kind of failure. Nothing else in the command line names a number. */
export const EXIT = {
  ok: 0,
  runtime: 1,
  usage: 2,
  syntax: 3,
  policy: 4,
  quota: 5,
  abort: 10,
  halt: 11,
  internal: 70,
  timeout: 124,
  cancelled: 130,
} as const satisfies Record<ErrorKind | 'ok' | 'abort' | 'halt', number>;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a run that ended with `error`; null is a run that ended well. */
export function exitOf(error: Pick<ErrorInfo, 'kind'> | null): ExitCode {
  return error === null ? EXIT.ok : EXIT[error.kind];
}

/**
 * The exit code of a turn, or of the last turn of a loop. A HALT is 11 unless its reason is time, a quota or a size,
 * policy, or a cancellation: those keep the code that they have in a run. A waiting session exits with 0.
 */
export function exitOfDecision(decision: Decision | 'SUSPENDED', reason: HaltReason | null): ExitCode {
  switch (decision) {
    case 'CONTINUE':
    case 'DONE':
    case 'SUSPENDED':
      return EXIT.ok;
    case 'ABORT':
      return EXIT.abort;
    case 'HALT':
      return (reason === null ? undefined : OF_REASON[reason]) ?? EXIT.halt;
  }
}

const OF_REASON: Readonly<Partial<Record<HaltReason, ExitCode>>> = {
  ERR_TIMEOUT: EXIT.timeout,
  ERR_QUOTA: EXIT.quota,
  ERR_ENV_SIZE: EXIT.quota,
  ERR_POLICY: EXIT.policy,
  ERR_CANCELLED: EXIT.cancelled,
};

/** The exit code of a command. That of `gate` and its subcommands answers a question: 0 for yes and 1 for everything else. */
export function answerOf(argv: readonly string[], code: ExitCode): ExitCode {
  return code !== EXIT.ok && argv[0] === 'gate' ? EXIT.runtime : code;
}
