import { expect, it } from 'vitest';
import { program } from '../../conformance/language/generate/programs.ts';
import { Random } from '../../conformance/language/generate/random.ts';
import { type Foreseen, foresee, parse, type SourceFile, type Span } from '../../grammar/index.ts';
import { bodiesOf, eachStatement } from '../../grammar/syntax/walk.ts';
import { BOUNDING_COSTS } from '../../src/wire/costs.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { driveFiles, type TestTool } from '../guest/driver.ts';
import { KEEPING } from './harness.ts';

const NOTE = 'tool.cond.note';

/** Seeds of programs. In the last one calls stand behind an `if` of which one branch ends the block, which few programs have. */
const SEEDS = [...Array(Number(process.env['FORESEEN_PROGRAMS'] ?? 150)).keys(), 2079];

/** The conditions of a file, and whether each stands where no call of a procedure can come back to it. */
function conditionsOf(file: SourceFile): readonly { readonly at: Span; readonly once: boolean }[] {
  const found: { readonly at: Span; readonly once: boolean }[] = [];
  const once = new Set([
    ...file.commands.map(({ body }) => body),
    ...file.procedures.filter(({ name }) => name.name === 'main').map(({ body }) => body),
  ]);
  for (const body of bodiesOf(file))
    eachStatement(body, (stmt) => {
      if (stmt.k === 'if' || stmt.k === 'while' || stmt.k === 'must') found.push({ at: stmt.cond, once: once.has(body) });
    });
  return found;
}

/** The program with `tool.cond.Note(0, …)` around its first condition, and so on. */
function noted(source: string, conditions: readonly { readonly at: Span }[]): string {
  return conditions
    .map(({ at }, index) => ({ at, index }))
    .toSorted((a, b) => b.at.s - a.at.s)
    .reduce(
      (text, { at: { s, e }, index }) => `${text.slice(0, s)}${NOTE}(${index}, ${text.slice(s, e)})${text.slice(e)}`,
      source,
    );
}

/** What is wrong with the conditions of the calls that were made; null when each call has a row of which all conditions held. */
function wrongOf(foreseen: Foreseen, calls: readonly Made[], once: readonly boolean[]): string | null {
  for (const { name, line, column, notes } of calls) {
    const rows = foreseen.calls.filter(
      (row) => row.name === name && row.line === line && row.column === column && !row.elsewhere,
    );
    const holds = ({ when }: Foreseen['calls'][number]): boolean =>
      when.every(({ kind, text }) => {
        const number = /^tool\.cond\.note\((\d+),/.exec(text)?.[1];
        if (number === undefined || (kind !== 'if' && kind !== 'unless' && kind !== 'while')) return true;
        const seen = notes.get(Number(number)) ?? [];
        const wanted = kind !== 'unless';
        return once[Number(number)] === true ? seen.at(-1) === wanted : seen.includes(wanted);
      });
    if (rows.length > 0 && !rows.some(holds))
      return `${name} at ${line}:${column}: ${JSON.stringify(rows.map(({ when }) => when))}`;
  }
  return null;
}

/** A call, and what each condition had been until then. */
interface Made {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly notes: ReadonlyMap<number, readonly boolean[]>;
}

it('issue 22.3: the conditions of a call held on the way to it, for generated programs', () => {
  let [judged, conditions] = [0, 0];
  for (const seed of SEEDS) {
    const { source: plain, call, stdin, events, globals } = program(seed, { tools: true });
    const first = parse(plain, { name: 't.ns' });
    if (!first.ok) throw new Error(`program ${seed} does not parse`);
    const found = conditionsOf(first.file);
    const parsed = parse(noted(first.text, found), { name: 't.ns' });
    if (!parsed.ok) throw new Error(`program ${seed} does not parse with notes: ${parsed.errors[0].message}`);
    const foreseen = foresee([{ file: parsed.file, text: parsed.text }], BOUNDING_COSTS, {
      ...{ values: globals, keeping: [...KEEPING, NOTE] },
      ...(call === null ? {} : { call: { name: call, args: [] } }),
    });
    for (let run = 0; run < 3; run++) {
      const random = new Random(seed * 1000 + run);
      const notes = new Map<number, boolean[]>();
      const made: Made[] = [];
      const answer: TestTool = (_, { call: { t, at, ...rest } }): TaggedJson => {
        const name = t === 'tool' && 'name' in rest ? String(rest.name) : t;
        made.push({ name, ...at, notes: new Map([...notes].map(([key, seen]) => [key, [...seen]])) });
        return random.pick([null, 1, 'k', [1], { k: 1 }]);
      };
      const note: TestTool = ([number]) => {
        const truth = !random.once(3);
        notes.set(Number(number), [...(notes.get(Number(number)) ?? []), truth]);
        return truth;
      };
      const tools = { 'tool.a.get': answer, 'tool.a.put': answer, 'tool.b.send': answer, [NOTE]: note };
      driveFiles([parsed.file], { call, stdin, events, globals, tools, ask: answer, limits: { fuel: 5000 } });
      const wrong = wrongOf(
        foreseen,
        made,
        found.map(({ once }) => once),
      );
      if (wrong !== null) expect(`seed ${seed}: ${wrong}\n${parsed.text}`).toBe('');
      judged += made.length;
    }
    conditions += foreseen.calls.reduce((sum, { when }) => sum + when.filter(({ text }) => text.startsWith(NOTE)).length, 0);
  }
  expect(judged).toBeGreaterThan(400);
  expect(conditions).toBeGreaterThan(100);
});
