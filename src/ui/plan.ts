import type { SessionStore, TurnRecord } from '../loop/index.ts';
import { counted, grantNotes, grantRows } from '../report/index.ts';
import { type Grant, mayChange } from '../tools/index.ts';
import type { Texts } from './texts.ts';
import type { PlanView } from './views.ts';

/** A grant that was approved, and the turn for whose program. */
export interface Approved {
  readonly turn: number;
  readonly grant: Grant;
}

/** Turns that are looked at for an approved grant, and how many are in memory at a time. */
const [LOOKED_AT, AT_A_TIME] = [50, 5];

/** The last grant that was approved in a session, among its latest turns; null for none. */
export async function lastApproved(store: SessionStore, sid: string, turns: number): Promise<Approved | null> {
  for (let until = turns; until > Math.max(0, turns - LOOKED_AT); until -= AT_A_TIME) {
    const after = Math.max(0, until - AT_A_TIME);
    const records = await store.turns(sid, () => {}, { after, limit: until - after });
    for (const record of records.toReversed()) {
      const grant = approvedIn(record);
      if (grant !== null) return { turn: record.turn, grant };
    }
  }
  return null;
}

function approvedIn({ plans = [] }: TurnRecord): Grant | null {
  return plans.findLast(({ grant }) => grant !== null)?.grant ?? null;
}

/** The program, and how much it may do. Nothing is granted yet. */
function headOf({ programs, calls }: Grant): string {
  const names = programs.map(({ name }) => name).join(', ');
  return `${names}: ${counted(calls.length, 'call')}, ${calls.filter(mayChange).length} of which may change something`;
}

/** What a plan may do, for the person who decides. */
export function planView(grant: Grant, since: Approved | null, texts: Texts): PlanView {
  const rows = grantRows(grant, since?.grant ?? null);
  const names = new Set(grant.calls.map(({ tool }) => tool));
  return {
    head: texts.text(headOf(grant), null),
    since: since?.turn ?? null,
    calls: rows.map(({ call, change, terms, notes }) => ({
      tool: call.tool,
      effects: call.effects ?? null,
      mayChange: mayChange(call),
      change,
      terms: texts.text(terms, null),
      notes: notes.map((note) => texts.text(note, null)),
    })),
    gone: [...new Set(since?.grant.calls.map(({ tool }) => tool) ?? [])].filter((tool) => !names.has(tool)),
    notes: grantNotes(grant).map((note) => texts.text(note, null)),
  };
}
