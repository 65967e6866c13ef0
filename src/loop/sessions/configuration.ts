import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { StoreError } from '../../sqlite/error.ts';
import type { Ceilings } from '../ceilings.ts';
import type { Durable } from '../record/kept.ts';
import { USD } from '../record/parts.ts';
import type { JsonObject, SessionSetup } from './setup.ts';

/** The host loop's part of the configuration of a session. A host may add its own. */
export interface LoopConfiguration {
  /** Whether the store keeps a turn only at its end (`turn`, when absent), or each call too (`call`). */
  readonly durable?: Durable | undefined;
  /** Ceilings of the session. The ceilings of the host that drives it apply too. */
  readonly ceilings?: Ceilings;
}

const count = z.int().min(1).optional();
const CEILINGS = z.object({
  maxTurns: count,
  maxFuel: count,
  maxTokens: count,
  maxTurnTokens: count,
  maxCost: USD.optional(),
  maxReplyMs: count,
  maxReasks: z.int().min(0).optional(),
});

/** The configuration of a session to open; null when it needs none. */
export function configurationOf(
  { durable = 'turn', ceilings = {} }: LoopConfiguration,
  more: JsonObject | null,
): JsonObject | null {
  const given = Object.entries(ceilings).filter(([, value]) => value !== undefined);
  const kept = {
    ...(durable === 'call' ? { durable } : {}),
    ...(given.length === 0 ? {} : { ceilings: Object.fromEntries(given) }),
  };
  return more === null && Object.keys(kept).length === 0 ? null : { ...more, ...kept };
}

/** Whether the calls of a session's turns are kept. The session decides, because every host has to treat its turns alike. */
export function isKept({ configuration }: SessionSetup): boolean {
  return configuration?.['durable'] === 'call';
}

/** The ceilings of a host, and those of the session where they are lower. Throws {@link StoreError} (`damaged`). */
export function tightestCeilings(own: Ceilings, { configuration }: SessionSetup): Ceilings {
  const read = CEILINGS.safeParse(configuration?.['ceilings'] ?? {}, FIRST_ISSUE);
  if (!read.success) throw new StoreError('damaged', 'the ceilings of a session cannot be read', { cause: read.error });
  const lower = (one: number | undefined, other: number | undefined) => (one === undefined ? other : Math.min(one, other ?? one));
  const { maxTurns, maxFuel, maxTokens, maxTurnTokens, maxCost, maxReplyMs, maxReasks } = read.data;
  return {
    maxTurns: lower(own.maxTurns, maxTurns),
    maxFuel: lower(own.maxFuel, maxFuel),
    maxTokens: lower(own.maxTokens, maxTokens),
    maxTurnTokens: lower(own.maxTurnTokens, maxTurnTokens),
    maxCost: lower(own.maxCost, maxCost),
    maxReplyMs: lower(own.maxReplyMs, maxReplyMs),
    maxReasks: lower(own.maxReasks, maxReasks),
  };
}
