import type { Grant } from '../../tools/index.ts';
import { ASK, costOf, type JournalEntry } from '../../wire/journal.ts';
import { checkList, checkObject } from '../../wire/options.ts';
import type { Preview, UsualCost } from '../../wire/preview.ts';
import { journalsOf } from './attempt.ts';
import type { TurnRecord } from './record.ts';

/**
 * A preview with what one call of each row cost in recorded turns: the median of the calls of that tool, or of the asks of that model, where
 * it is known, and how many there were. A call counts that ended well or cost something: refused calls and answers of earlier attempts do not.
 * A row gets `usually` when it has a price, or when a recorded call cost something. Throws `ConfigError` (`ERR_CONFIG`) for what is no preview.
 */
export function withUsualCosts(preview: Preview, records: readonly TurnRecord[]): Preview {
  checkObject('the preview', preview);
  checkList('the calls of the preview', preview.calls);
  checkList('the records', records);
  const usual = new UsualCosts();
  for (const record of records) usual.add(record);
  return usual.within(preview);
}

/** What calls of recorded turns cost, by their tools and the models that they asked. */
export class UsualCosts {
  readonly #costs = new Map<string, number[]>();

  /** Counts the calls of a turn. */
  add({ journal, attempts = [] }: TurnRecord): void {
    for (const entry of [...journalsOf(attempts).flat(), ...journal]) {
      if (entry.from !== undefined || (!entry.outcome.ok && costOf(entry) === 0)) continue;
      const key = keyOfEntry(entry);
      const known = this.#costs.get(key);
      if (known === undefined) this.#costs.set(key, [costOf(entry)]);
      else known.push(costOf(entry));
    }
  }

  /** The preview with {@link of} at each row that has it. */
  within(preview: Preview): Preview {
    const calls = preview.calls.map((call) => {
      const usually = this.of(call.name, call.args?.[0]?.value, call.cost !== undefined);
      return usually === undefined ? call : { ...call, usually };
    });
    return { ...preview, calls };
  }

  /** The same for the calls of a grant, by their numbers. */
  ofGrant({ calls }: Grant): ReadonlyMap<number, UsualCost> {
    return new Map(
      calls.flatMap(({ number, tool, when, cost }) => {
        const usually = this.of(tool, when?.['model'], cost !== undefined);
        return usually === undefined ? [] : [[number, usually] as const];
      }),
    );
  }

  /** What one call usually costs. `model` counts for an `ask`. Undefined without a past, and for what has neither price nor cost. */
  of(name: string, model: unknown, hasPrice: boolean): UsualCost | undefined {
    const costs = this.#costs.get(name === ASK ? `${ASK} ${String(model)}` : name)?.toSorted((a, b) => a - b) ?? [];
    const usd = costs[Math.ceil(costs.length / 2) - 1];
    return usd === undefined || (usd === 0 && !hasPrice) ? undefined : { usd, calls: costs.length };
  }
}

function keyOfEntry(entry: JournalEntry): string {
  return entry.kind === 'tool' ? entry.name.toLowerCase() : entry.kind === 'ask' ? `${ASK} ${entry.model}` : '';
}
