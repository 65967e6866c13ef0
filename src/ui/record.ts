import { z } from 'zod';
import { FIRST_ISSUE, mapOf } from '../files/check.ts';
import {
  malformation,
  RECORD,
  type Scene,
  type SealFault,
  type SessionStore,
  sealFaults,
  type TurnRecord,
} from '../loop/index.ts';
import { RequestError } from './request.ts';
import type { RecordView } from './views.ts';

const nullable = z.string().nullable();
const outcome = z.union([
  z.looseObject({ ok: z.literal(true), value: z.unknown() }),
  z.looseObject({ ok: z.literal(false), code: z.number(), message: z.string(), hint: z.string().optional() }),
  z.looseObject({ ok: z.literal(false), halted: z.looseObject({ code: z.string(), message: z.string() }) }),
]);
const at = z.looseObject({
  fork: z.string(),
  source: z.string(),
  line: z.number(),
  column: z.number(),
  together: z.number().optional(),
});
const call = z.looseObject({ seq: z.int().min(1), at, outcome, ms: z.number() });
const entry = z.discriminatedUnion('kind', [
  call.extend({ kind: z.literal('tool'), name: z.string(), args: z.array(z.unknown()) }),
  call.extend({ kind: z.literal('prompt'), text: z.string() }),
  call.extend({ kind: z.literal('ask'), model: z.string(), prompt: z.unknown(), options: z.unknown() }),
]);
const candidate = z.looseObject({
  line: z.int().min(1),
  ok: z.boolean(),
  code: nullable,
  detail: nullable,
  message: nullable,
  jti: nullable,
});

/** Everything of a record that a view uses. A store is foreign: only the head of a record was checked when it was read. */
const VIEWED = RECORD.extend({
  journal: z.array(entry),
  candidates: z.array(candidate),
  // Earlier versions recorded other codes; a view only prints them.
  lints: z.array(z.looseObject({ code: z.string(), line: z.number() })),
  seal: z.looseObject({ prev: nullable, hash: z.string(), parts: mapOf(z.string()) }).nullish(),
});

/** Why a record cannot be shown; null when it can. */
export function recordProblem(record: TurnRecord): string | null {
  const { error } = VIEWED.safeParse(record, FIRST_ISSUE);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `it is malformed: ${issue.path.join('.')}: ${issue.message}`;
}

/** The inputs of a turn that a view uses beside the envelope; null for a record without them, or with malformed ones. */
export function sceneOf(record: TurnRecord): Scene | null {
  return notExecutable(record) === null ? record.inputs.scene : null;
}

/** What can be said of the state of a record. `prev` is the hash of the record before it; undefined when that is unknown. */
export function recordView(record: TurnRecord, prev: string | null | undefined): RecordView {
  const faults = faultsOf(record, prev);
  return {
    version: record.version,
    seal: faults.length > 0 ? 'broken' : record.seal === null ? 'none' : 'whole',
    faults,
    erased: record.erased ?? [],
    outputComplete: record.outputComplete,
    notExecutable: notExecutable(record),
  };
}

/** What is known of records: to check one is to look at every value of its calls. */
const known = new WeakMap<TurnRecord, string | null>();

/** Why the record of a turn cannot be executed again; null when it can. */
function notExecutable(record: TurnRecord): string | null {
  const found = known.get(record);
  if (found !== undefined) return found;
  const why = whyNotExecutable(record);
  known.set(record, why);
  return why;
}

function whyNotExecutable(record: TurnRecord): string | null {
  if (record.erased !== undefined) return 'its content was erased';
  if (record.inputs.scene === null || record.inputs.scene === undefined) return 'its inputs are not in the record';
  return guarded(() => malformation(record), 'it nests too deep');
}

function faultsOf(record: TurnRecord, prev: string | null | undefined): readonly SealFault[] {
  const before = prev === undefined ? (record.seal?.prev ?? null) : prev;
  return guarded(() => sealFaults(record, before), [{ part: 'record', problem: 'changed' }]);
}

/** The result of `work`, or `otherwise` where a value nests deeper than the stack. */
function guarded<Result>(work: () => Result, otherwise: Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return otherwise;
    throw error;
  }
}

/** A turn that was found, with what its neighbours say. */
export interface FoundTurn {
  readonly record: TurnRecord;
  readonly before: number | null;
  readonly after: number | null;
  /** Hash of the record before it; undefined when that cannot be read. */
  readonly prev: string | null | undefined;
}

/** Reads one turn and its neighbours. Throws {@link RequestError}: 404 for a turn that is not decided, 422 for one that cannot be shown. */
export async function findTurn(store: SessionStore, sid: string, turn: number): Promise<FoundTurn> {
  let problem: string | null = null;
  const onDamaged = (damaged: number, why: string): void => {
    if (damaged === turn) problem = why;
  };
  const near = await store.turns(sid, onDamaged, { after: Math.max(0, turn - 2), limit: 3 });
  const record = near.find((each) => each.turn === turn);
  problem ??= record === undefined ? null : recordProblem(record);
  if (problem !== null) throw new RequestError(422, `turn ${turn} cannot be shown: ${problem}`);
  if (record === undefined) throw new RequestError(404, `session ${JSON.stringify(sid)} has no decided turn ${turn}`);
  const before = near.find((each) => each.turn === turn - 1);
  const isThere = (each: number): number | null => (near.some((one) => one.turn === each) ? each : null);
  return {
    record,
    before: isThere(turn - 1),
    after: isThere(turn + 1),
    prev: turn === 1 ? null : before === undefined ? undefined : (before.seal?.hash ?? null),
  };
}
