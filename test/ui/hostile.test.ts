import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { Ancestry, readRecord, sealRecord, type TurnRecord } from '../../src/loop/index.ts';
import { FILE_SIZES, type Inspector, RequestError, snapshotHtml, type TurnView } from '../../src/ui/index.ts';
import { type LogSource, logView } from '../../src/ui/log.ts';
import type { SeriesView } from '../../src/ui/logviews.ts';
import { seriesView } from '../../src/ui/series.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import { ASSETS, block, drive, inspectorOf, MemoryStore, magic, PROGRAMS } from './kit.ts';

const MARKUP = '</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>';
const ODD = [MARKUP, '\u001b[31m\u202eabc\u2066\u0000\ud800', '\u{1f600}'].join('');

/** A store whose turns are foreign. */
class ForeignStore extends MemoryStore {
  foreign: readonly TurnRecord[] = [];
  override async turns(...asked: Parameters<MemoryStore['turns']>): ReturnType<MemoryStore['turns']> {
    const [, onDamaged, { after = 0, limit } = {}] = asked;
    onDamaged?.(99, `it is damaged: ${ODD}`);
    return this.foreign.filter(({ turn }) => turn > after).slice(0, limit);
  }
}

const store = new ForeignStore();
let records: readonly TurnRecord[] = [];
let inspector: Inspector;
beforeAll(async () => {
  const own = new MemoryStore();
  const text = block(`emit ${JSON.stringify(MARKUP)}`, `whisper self, ${JSON.stringify(MARKUP)}`, magic('done'));
  await drive(own, { ...PROGRAMS, odd: [text] });
  records = [...(await own.turns('good')), ...(await own.turns('fails')), ...(await own.turns('odd'))];
  await drive(store, { s: [text] });
  inspector = inspectorOf(store);
});

const read = (...path: readonly string[]): Promise<object> =>
  inspector.read({ path, query: new URLSearchParams(), signal: new AbortController().signal });
const shown = (record: TurnRecord): void => {
  store.foreign = [record];
};

/** The paths of all values in JSON, with those of containers. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

function changed(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value)) return value.map((each, index) => (String(index) === key ? changed(each, rest, to) : each));
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(entries.map(([name, each]) => [name, name === key ? changed(each, rest, to) : each]));
}

describe('issue 24: what is stored is foreign', () => {
  it('a record with any value in any place is shown, or is said to be unreadable', async () => {
    let seen = 0;
    for (const record of records.slice(1, 3)) {
      const json: unknown = JSON.parse(JSON.stringify(record));
      for (const path of pathsOf(json))
        for (const to of [null, -1.5, ODD, { [ODD]: [] }]) {
          let foreign: TurnRecord;
          try {
            foreign = readRecord(JSON.stringify(changed(json, path, to)));
          } catch {
            // A store reports such a record as damaged.
            continue;
          }
          shown(foreign);
          const turn = String(foreign.turn);
          for (const asked of [['turns'], ['turns', turn], ['turns', turn, 'calls'], ['turns', turn, 'parts', 'call.1.result']])
            await read('sessions', 's', ...asked).catch((error: unknown) => {
              const place = `${path.join('.')} = ${JSON.stringify(to)}: ${String(error)}`;
              if (!(error instanceof RequestError)) throw new Error(place, { cause: error });
            });
          seen += 1;
        }
    }
    expect(seen).toBeGreaterThan(500);
  });

  it('values of 10 MB and values that nest without end are cut, and the rest can be had in pieces', async () => {
    const [record] = records;
    if (record === undefined) throw new Error('there is no record');
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const large = ODD.repeat(10_000_000 / ODD.length);
    const [entry] = record.journal;
    const call = { ...entry, outcome: { ok: true, value: large } } as JournalEntry;
    const nested = { ...entry, seq: 2, outcome: { ok: true, value: deep } } as JournalEntry;
    shown({ ...record, output: large, scratchpad: large, journal: [call, nested] });
    const turn = String(record.turn);
    const view = (await read('sessions', 's', 'turns', turn)) as TurnView;
    expect(JSON.stringify(view).length).toBeLessThan(2_000_000);
    expect(view.output).toMatchObject({ length: large.length, part: 'output' });
    expect(view.journal[1]?.result?.text).toContain('nests too deep');
    let text = '';
    for (let from = 0; from < large.length; ) {
      const query = new URLSearchParams({ from: String(from) });
      const path = ['sessions', 's', 'turns', turn, 'parts', 'output'];
      const piece = await inspector.read({ path, query, signal: new AbortController().signal });
      if (!('text' in piece) || typeof piece.text !== 'string' || piece.text === '') throw new Error('there is no piece');
      text += piece.text;
      from += piece.text.length;
    }
    expect(text === large).toBe(true);
  });

  it('many calls come a thousand at a time, and all texts together stay small', async () => {
    const [record] = records;
    const [entry] = record?.journal ?? [];
    if (record === undefined || entry === undefined) throw new Error('there is no call');
    const journal = Array.from(
      { length: 2500 },
      (_, index): JournalEntry => ({ ...entry, seq: index + 1, outcome: { ok: true, value: 'x'.repeat(20_000) } }),
    );
    shown({ ...record, journal });
    const view = (await read('sessions', 's', 'turns', String(record.turn))) as TurnView;
    expect([view.journal.length, view.more, view.calls]).toEqual([1000, true, 2500]);
    expect(JSON.stringify(view).length).toBeLessThan(6_000_000);
    const query = new URLSearchParams({ after: '2000' });
    const path = ['sessions', 's', 'turns', String(record.turn), 'calls'];
    const rest = await inspector.read({ path, query, signal: new AbortController().signal });
    expect(rest).toMatchObject({ more: false, calls: { 0: { seq: 2001 }, length: 500 } });
  });

  it('a broken seal is shown with the parts that were changed', async () => {
    const [record] = records;
    if (record === undefined) throw new Error('there is no record');
    shown({ ...record, output: 'other\n' });
    expect(await read('sessions', 's', 'turns', String(record.turn))).toMatchObject({
      record: { seal: 'broken', faults: [{ part: 'output', problem: 'changed' }] },
    });
    const { seal: _, ...unsealed } = record;
    shown(sealRecord({ ...unsealed, output: 'other\n' }, 'another'));
    expect(await read('sessions', 's', 'turns', String(record.turn))).toMatchObject({
      record: { faults: [{ part: 'seal', problem: 'moved' }] },
    });
  });
});

describe('issue 24: a log is foreign', () => {
  it('of any times and words, it is counted in bounded steps and names', async () => {
    const texts = Array.from({ length: 3000 }, (_, index) => {
      const ts = new Date(Math.floor(Math.abs(Math.sin(index)) * 8.64e15)).toISOString();
      return JSON.stringify({ ts, SID: ODD, turn_index: 1, decision: `${ODD}${index}`, reason: '__proto__', latency_ms: index });
    });
    const log: LogSource = {
      name: 'foreign',
      async *lines() {
        for (const [index, text] of [...texts, 'no JSON', '[]', '{"ts":1}'].entries())
          yield { file: 'f', line: index + 1, text, fault: null };
      },
      stamp: () => null,
    };
    const view = await seriesView({ log, store }, new URLSearchParams(), new AbortController().signal);
    expect(view.times.length).toBeLessThanOrEqual(241);
    expect(Object.keys(view.decisions).length).toBeLessThanOrEqual(42);
    expect(Object.hasOwn(view.errors, '__proto__')).toBe(true);
    const sum = (lists: SeriesView['errors']): number =>
      Object.values(lists)
        .flat()
        .reduce((a, b) => a + b, 0);
    expect([sum(view.decisions), sum(view.errors)]).toEqual([3000, 3000]);
    expect(Math.max(...view.latency.most.map((each) => each ?? 0))).toBe(2999);
    const lines = await logView(log, new Ancestry(store), new URLSearchParams(), new AbortController().signal);
    expect(lines).toMatchObject({ total: 3003, whole: 0, broken: { place: 1 } });
    expect(lines.lines.at(-1)).toMatchObject({ line: 3003, state: 'behind', entry: null });
  });
});

describe('issue 24: a session as one file', () => {
  it('contains no text of a program that a browser or a reader could take for more, and runs only the page', async () => {
    const record = records.at(-1);
    if (record === undefined) throw new Error('there is no record');
    shown({ ...record, output: ODD, whispers: [{ to: ODD, text: ODD }] });
    const html = snapshotHtml(ASSETS, await inspector.snapshot('s', FILE_SIZES));
    expect(html).not.toContain('alert(1)</script');
    expect(html).not.toContain('<img');
    expect(html).not.toMatch(/[^\P{C}\n]|\u2028/u);
    const [, policy = ''] = /http-equiv="content-security-policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; img-src data:;/);
    const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(html) ?? [];
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
    for (const text of [script, style]) expect(policy).toContain(hash('sha256', text, 'base64'));
    const [, data = ''] = /<script type="application\/json" id="snapshot">([^<]*)<\/script>/.exec(html) ?? [];
    expect(JSON.parse(data)).toMatchObject({ session: { sid: 's' }, turns: [{ output: { text: ODD, part: null } }] });
    // The policy stands before everything that it rules, and nothing refers to another file.
    expect(html.indexOf('content-security-policy')).toBeLessThan(html.indexOf('<style'));
    expect(html.replace(data, '')).not.toMatch(/ (?:src|href)=/);
  });
});
