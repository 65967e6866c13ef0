import { timeoutError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { AgentReason } from '../agents/agent.ts';
import { hostFailure } from '../turn/failure.ts';
import type { Breach } from './ceilings.ts';
import type { V1HaltReason } from './diagnostics.ts';
import { toPublicV1Turn, type V1TurnRecord, type V1TurnResult } from './record.ts';

/** Why a loop ended. */
export type V1Stop =
  /** The program said so. */
  | { readonly decision: 'DONE'; readonly cause: 'done'; readonly reason: null }
  /** It did not ask to continue (AL1-2.8-1). */
  | { readonly decision: 'DONE'; readonly cause: 'no-signal'; readonly reason: null }
  /** The agent may not loop: one turn is all it gets (AMB-50). */
  | { readonly decision: 'DONE'; readonly cause: 'not-permitted'; readonly reason: null }
  | { readonly decision: 'ABORT'; readonly cause: 'abort'; readonly reason: string | null }
  /** The program emitted a halt marker: a stop like any other (AMB-44). */
  | { readonly decision: 'HALT'; readonly cause: 'marker'; readonly reason: string | null }
  | { readonly decision: 'HALT'; readonly cause: 'host'; readonly reason: V1HaltReason };

/** How a loop ended. */
export type V1LoopResult = V1Stop & {
  readonly loopId: string;
  /** OUTPUT of the last turn with the host's lines under it; the last one is the halt marker when the host stopped the loop. */
  readonly output: string;
  /** Why the host stopped the loop, or why the one permitted turn failed. */
  readonly error: ErrorInfo | null;
  /** What all turns used together. */
  readonly fuel: number;
  readonly tokens: number;
  readonly turns: readonly V1TurnRecord[];
};

/** The public form of a loop: `loop --profile v1 --json`. */
export type V1LoopSummary = Omit<V1LoopResult, 'turns'> & { readonly profile: 'v1'; readonly turns: readonly V1TurnResult[] };

/** Takes from a result what the public form shows. */
export function toPublicV1Loop(result: V1LoopResult): V1LoopSummary {
  const { loopId, decision, cause, reason, output, error, fuel, tokens, turns } = result;
  return { profile: 'v1', loopId, decision, cause, reason, output, error, fuel, tokens, turns: turns.map(toPublicV1Turn) };
}

/** The reason for a halt after a turn that failed (AMB-48). */
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

/** The reason for a halt when the agent gave no reply. */
export function reasonOfAgent(reason: AgentReason): V1HaltReason {
  if (reason === 'ERR_TIMEOUT') return 'timeout';
  return reason === 'ERR_AGENT' ? 'execute-error' : 'policy';
}

/** A ceiling that was reached, as a failure. */
export function breachError({ reason, ceiling, allowed, used }: Breach): ErrorInfo {
  const message = `the loop's ${ceiling} allows ${allowed}, and ${Math.ceil(used)} was used`;
  if (reason === 'timeout') return timeoutError({ limit: 'wallMs', allowed, used }, message);
  if (reason === 'max-turns') return hostFailure('ERR_MAX_TURNS', message);
  return { ...hostFailure('ERR_QUOTA', message), kind: 'quota', limit: ceiling, allowed, used };
}
