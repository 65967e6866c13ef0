import { timeoutError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { RunError } from '../../wire/text/runerror.ts';
import type { AgentReason } from '../agents/agent.ts';
import { hostFailure } from '../record/decision.ts';
import type { Breach } from './ceilings.ts';
import type { V1HaltReason } from './diagnostics.ts';
import { toPublicV1Turn, type V1TurnRecord, type V1TurnResult } from './record.ts';

/** Why a loop ended. */
export type V1Stop =
  /** The program requested it. */
  | { readonly decision: 'DONE'; readonly cause: 'done'; readonly reason: null }
  /** The program did not request to continue. */
  | { readonly decision: 'DONE'; readonly cause: 'no-signal'; readonly reason: null }
  /** The agent may not loop, so it got one turn. */
  | { readonly decision: 'DONE'; readonly cause: 'not-permitted'; readonly reason: null }
  /** The program gave up. */
  | { readonly decision: 'ABORT'; readonly cause: 'abort'; readonly reason: string | null }
  /** The program emitted a halt marker. */
  | { readonly decision: 'HALT'; readonly cause: 'marker'; readonly reason: string | null }
  /** The host stopped the loop. */
  | { readonly decision: 'HALT'; readonly cause: 'host'; readonly reason: V1HaltReason };

/** The result of a loop. */
export type V1LoopResult = V1Stop & {
  /** Id of the loop. */
  readonly loopId: string;
  /** OUTPUT of the last turn with the host's lines. If the host stopped the loop, the last line is its halt marker. */
  readonly output: string;
  /** Why the host stopped the loop, or why the one permitted turn failed. */
  readonly error: RunError | null;
  /** Fuel of all turns together. */
  readonly fuel: number;
  /** Model tokens of all turns together. */
  readonly tokens: number;
  /** The turns, in order. */
  readonly turns: readonly V1TurnRecord[];
};

/** The public form of a loop: `loop --profile v1 --json`. */
export type V1LoopSummary = Omit<V1LoopResult, 'turns'> & {
  readonly profile: 'v1';
  /** The turns, in order. */
  readonly turns: readonly V1TurnResult[];
};

/** Selects the public part of a result. */
export function toPublicV1Loop(result: V1LoopResult): V1LoopSummary {
  const { loopId, decision, cause, reason, output, error, fuel, tokens, turns } = result;
  return { profile: 'v1', loopId, decision, cause, reason, output, error, fuel, tokens, turns: turns.map(toPublicV1Turn) };
}

/** The reason for the halt after a failed turn. */
export function reasonOfError({ kind }: ErrorInfo): V1HaltReason {
  switch (kind) {
    case 'timeout':
      return 'timeout';
    case 'quota':
    case 'policy':
    case 'cancelled':
      return 'policy';
    case 'syntax':
    case 'runtime':
    case 'usage':
    case 'internal':
      return 'execute-error';
  }
}

/** The reason for the halt when the agent gave no reply. */
export function reasonOfAgent(reason: AgentReason): V1HaltReason {
  if (reason === 'ERR_TIMEOUT') return 'timeout';
  return reason === 'ERR_AGENT' ? 'execute-error' : 'policy';
}

/** Describes a reached ceiling as a failure. */
export function breachError({ reason, ceiling, allowed, used }: Breach): ErrorInfo {
  const message = `the loop's ${ceiling} allows ${allowed}, and ${Math.ceil(used)} was used`;
  if (reason === 'timeout') return timeoutError({ limit: 'wallMs', allowed, used }, message);
  if (reason === 'max-turns') return hostFailure('ERR_MAX_TURNS', message);
  return { ...hostFailure('ERR_QUOTA', message), kind: 'quota', limit: ceiling, allowed, used };
}
