import {
  malformation,
  recordProblem,
  type Scene,
  type SealFault,
  type SessionStore,
  sealFaults,
  type TurnRecord,
} from '../loop/index.ts';
import { RequestError } from './request.ts';
import type { RecordView } from './views.ts';

/** The inputs of a turn that a view uses beside the envelope; null for a record without them, or with malformed ones. */
export function sceneOf(record: TurnRecord): Scene | null {
  return notExecutable(record) === null ? record.inputs.scene : null;
}

/** What can be said of the state of a record. `prev` is the hash of the record before it; undefined when that is unknown. */
export function recordView(record: TurnRecord, prev: string | null | undefined): RecordView {
  const faults = faultsOf(record, prev);
  return {
    version: record.version,
    seal: faults.length > 0 ? 'broken' : 'whole',
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
  if (record.inputs.scene === null) return 'its inputs are not in the record';
  return guarded(() => malformation(record), 'it nests too deep');
}

/** What is not as it was sealed; `prev` as in {@link recordView}. */
export function faultsOf(record: TurnRecord, prev: string | null | undefined): readonly SealFault[] {
  const before = prev === undefined ? record.seal.prev : prev;
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
    prev: turn === 1 ? null : before === undefined ? undefined : before.seal.hash,
  };
}
