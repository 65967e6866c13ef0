import { type SessionStore, type TurnRecord, usualCosts } from '../loop/index.ts';
import { counted, grantNotes, grantRows, type UsualByCall } from '../report/index.ts';
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

/** What calls usually cost. It is read once for the plan of a turn, because many records say it. */
export class Past {
  readonly #store: SessionStore;
  #known: { readonly key: string; readonly costs: ReturnType<typeof usualCosts> } | null = null;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** As the turns of the store had it when this was first asked for the turn after `turns`. */
  async costs(sid: string, turns: number): ReturnType<typeof usualCosts> {
    const key = `${turns} ${sid}`;
    if (this.#known?.key !== key) this.#known = { key, costs: usualCosts(this.#store) };
    try {
      return await this.#known.costs;
    } catch (error) {
      this.#known = null;
      throw error;
    }
  }
}

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

/** What a plan may do, for the person who decides; `usual` has what its calls usually cost. */
export function planView(grant: Grant, since: Approved | null, usual: UsualByCall | undefined, texts: Texts): PlanView {
  const rows = grantRows(grant, since?.grant ?? null, usual);
  const names = new Set(grant.calls.map(({ tool }) => tool));
  return {
    head: texts.text(headOf(grant), null),
    since: since?.turn ?? null,
    calls: rows.map(({ call, change, terms, cost, notes }) => ({
      tool: call.tool,
      effects: call.effects ?? null,
      mayChange: mayChange(call),
      change,
      terms: texts.text(terms, null),
      cost,
      notes: notes.map((note) => texts.text(note, null)),
    })),
    gone: [...new Set(since?.grant.calls.map(({ tool }) => tool) ?? [])].filter((tool) => !names.has(tool)),
    notes: grantNotes(grant).map((note) => texts.text(note, null)),
  };
}
