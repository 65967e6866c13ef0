import { ASK, costOf, type JournalEntry } from '../../wire/journal.ts';
import { checkList, checkObject } from '../../wire/options.ts';
import type { Preview, PreviewCall, UsualCost } from '../../wire/preview.ts';
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
  const costs = new Map<string, number[]>();
  for (const { journal, attempts = [] } of records)
    for (const entry of [...journalsOf(attempts).flat(), ...journal]) {
      if (entry.from !== undefined || (!entry.outcome.ok && costOf(entry) === 0)) continue;
      const key = keyOfEntry(entry);
      const known = costs.get(key);
      if (known === undefined) costs.set(key, [costOf(entry)]);
      else known.push(costOf(entry));
    }
  const usual = new Map([...costs].map(([key, all]) => [key, usualOf(all)]));
  const calls = preview.calls.map((call) => {
    const found = usual.get(keyOf(call));
    return found === undefined || (found.usd === 0 && call.cost === undefined) ? call : { ...call, usually: found };
  });
  return { ...preview, calls };
}

function usualOf(costs: readonly number[]): UsualCost {
  const sorted = costs.toSorted((a, b) => a - b);
  return { usd: sorted[Math.ceil(sorted.length / 2) - 1] ?? 0, calls: sorted.length };
}

function keyOfEntry(entry: JournalEntry): string {
  return entry.kind === 'tool' ? entry.name.toLowerCase() : entry.kind === 'ask' ? `${ASK} ${entry.model}` : '';
}

function keyOf({ name, args }: PreviewCall): string {
  return name === ASK ? `${ASK} ${String(args?.[0]?.value)}` : name;
}
