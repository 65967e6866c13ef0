import { ChainWalk, type DecisionLog, type StoredLog } from '../../loop/index.ts';
import { type ContractCase, check } from './check.ts';
import { entryOf } from './samples.ts';

/** Makes an empty decision log for one case. */
export type MakeLog = () => Promise<DecisionLog | StoredLog> | DecisionLog | StoredLog;

const CASES: readonly { readonly name: string; run(log: DecisionLog | StoredLog): Promise<void> }[] = [
  {
    name: 'has the decision of a turn once it is appended, and no other',
    run: async (log) => {
      check(await log.has('s', 1)).equals(false);
      await log.append(entryOf('s', 1));
      check([await log.has('s', 1), await log.has('s', 2), await log.has('t', 1)]).equals([true, false, false]);
      await log.append(entryOf('t', 2));
      check([await log.has('s', 1), await log.has('t', 1), await log.has('t', 2)]).equals([true, false, true]);
    },
  },
  {
    name: 'loses none of many entries that are appended at once',
    run: async (log) => {
      const turns = Array.from({ length: 40 }, (_, index) => index + 1);
      await Promise.all(turns.map((turn) => log.append(entryOf(`s${turn % 4}`, turn))));
      check(await Promise.all(turns.map((turn) => log.has(`s${turn % 4}`, turn)))).equals(turns.map(() => true));
    },
  },
  {
    name: 'knows after which turn an open session goes on, if it says so at all',
    run: async (log) => {
      if (log.goesOnAfter === undefined) return;
      check(await log.goesOnAfter('s')).equals(null);
      await log.append(entryOf('s', 1));
      await log.append(entryOf('t', 1));
      await log.append(entryOf('s', 2));
      check(await log.goesOnAfter('s')).equals(2);
      await log.append(entryOf('s', 3, 'DONE'));
      check([await log.goesOnAfter('s'), await log.goesOnAfter('t')]).equals([null, 1]);
    },
  },
  {
    name: 'gives its lines back in the order of one chain, from any of them on, if it has lines',
    run: async (log) => {
      if (!('lines' in log)) return;
      for (const turn of [1, 2, 3]) await log.append(entryOf('s', turn));
      const walk = new ChainWalk();
      const found: unknown[] = [];
      for await (const { line, text } of log.lines()) found.push([line, walk.next(text), text.includes(`"turn_index":${line},`)]);
      check(found).equals([1, 2, 3].map((line) => [line, null, true]));
      const after: number[] = [];
      for await (const { line } of log.lines(2)) after.push(line);
      check(after).equals([3]);
    },
  },
];

/** What every decision log does. Each case makes a log of its own. */
export function logContract(make: MakeLog): readonly ContractCase[] {
  return CASES.map(({ name, run }) => ({ name, run: async () => run(await make()) }));
}
