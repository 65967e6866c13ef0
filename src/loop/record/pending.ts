import { z } from 'zod';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import { LAST_MS } from '../../wire/time.ts';

/*
 * The schemas of a run that goes on later: its calls, its input and what its turn had done. A store is foreign, and its reader checks
 * every part that the loop uses before a turn goes on. Loose objects keep what a newer version added.
 */

const count = z.int().min(0);
const position = z.int().min(1);
const ms = z.number().min(0);

/** Unix milliseconds that a calendar has. */
export const DATE = z.number().min(-LAST_MS).max(LAST_MS);

/** The place of a call. */
const AT = z.looseObject({
  fork: z.string(),
  source: z.string(),
  line: z.number(),
  column: z.number(),
  together: z.number().optional(),
});

const OUTCOME = z.union([
  z.looseObject({ ok: z.literal(true), value: z.unknown() }),
  z.looseObject({ ok: z.literal(false), code: z.number(), message: z.string(), hint: z.string().optional() }),
  z.looseObject({ ok: z.literal(false), halted: z.looseObject({ code: z.string(), message: z.string() }) }),
]);
const ASKED = z.array(z.looseObject({ t: z.enum(['var.get', 'var.set', 'const']), name: z.string() }));
const call = z.looseObject({ seq: position, at: AT, outcome: OUTCOME, ms: z.number(), asked: ASKED.optional() });

/** A recorded call. */
export const ENTRY = z.discriminatedUnion('kind', [
  call.extend({ kind: z.literal('tool'), name: z.string(), args: z.array(z.unknown()) }),
  call.extend({ kind: z.literal('prompt'), text: z.string() }),
  call.extend({ kind: z.literal('ask'), model: z.string(), prompt: z.unknown(), options: z.unknown() }),
]);

/** A call that waits for its answer. */
export const WAITING = z.looseObject({
  seq: position,
  tool: z.string(),
  args: z.array(z.unknown()),
  at: AT,
  asked: ASKED,
  reason: z.string(),
  expiresIn: z.number().nullable(),
  ms,
});

/** What a turn had done when it stopped. */
export const EARLIER = z.looseObject({
  startedAt: DATE,
  nonce: z.string(),
  clock: z.array(z.number()),
  jtis: z.array(z.string()),
  mints: count,
  mintFailed: z.boolean(),
  ranMs: ms,
});

/** The input of a run. Its reader checks the limits. */
export const RUN = z.looseObject({
  sources: z.array(z.looseObject({ name: z.string(), text: z.string() })),
  globals: mapOf(z.unknown()),
  constants: mapOf(z.unknown()).optional(),
  pure: z.array(z.string()).optional(),
  variables: z.array(z.looseObject({})).optional(),
  mapKeys: count.optional(),
  call: z.looseObject({}).nullable(),
  events: z.array(z.looseObject({})),
  limits: mapOf(z.unknown()),
  forkId: z.string(),
  turn: z.boolean(),
  stdin: z.boolean(),
});

/** The answer to a call that waited. */
export const COMPLETION = z.union([
  z.looseObject({ ok: z.literal(true), value: z.unknown() }),
  z.looseObject({ ok: z.literal(false), code: z.int(), message: z.string() }),
]);

/** Checks a value and keeps it as it is, with the order of its keys. Its issue is that of `head`. */
export function asItIs<T>(head: z.ZodType): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const [issue] = head.safeParse(value, FIRST_ISSUE).error?.issues ?? [];
    if (issue === undefined) return value as T;
    context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
    return z.NEVER;
  });
}
