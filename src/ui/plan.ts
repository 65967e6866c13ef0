import { type Approved, type SessionStore, usualCosts } from '../loop/index.ts';
import { grantHead, grantNotes, grantRows, type UsualByCall } from '../report/index.ts';
import { type Grant, mayChange } from '../tools/index.ts';
import type { Texts } from './texts.ts';
import type { PlanView } from './views.ts';

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

/** What a plan may do, for the person who decides; `usual` has what its calls usually cost. */
export function planView(grant: Grant, since: Approved | null, usual: UsualByCall | undefined, texts: Texts): PlanView {
  const rows = grantRows(grant, since?.grant ?? null, usual);
  const names = new Set(grant.calls.map(({ tool }) => tool));
  return {
    head: texts.text(grantHead(grant), null),
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
