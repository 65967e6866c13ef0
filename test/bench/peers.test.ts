// @module-tag slow
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BENCH_USAGE } from '../../bench/main.ts';
import { changes, OlderReportError, olderRows } from '../../bench/older.ts';
import { PEER_FLOORS, runFloor } from '../../bench/peerfloors.ts';
import { type PeerQuotaRow, peerQuotaFailures, programOf } from '../../bench/peerquotas.ts';
import { PEER_ROWS } from '../../bench/peerrows.ts';
import { oursForPeers } from '../../bench/peertable.ts';
import { RawProcess } from '../../bench/rawprocess.ts';
import { tempFolder } from '../folder.ts';
import { misused } from './misused.ts';

const command = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const installed = existsSync(new URL('../../apps/lab/peers/node_modules', import.meta.url));
const folder = tempFolder();

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('the rows of bench peers', () => {
  it('give the expected result on ours, as every peer must', { timeout: 300_000 }, async () => {
    await using runtime = await oursForPeers(1);
    const found: unknown[] = [];
    for (const { name, neuroscript } of PEER_ROWS) {
      const { library, commands } = neuroscript;
      const { error, values } = await runtime.run(commands, { lib: library });
      found.push([name, error, values[0]]);
    }
    expect(found).toEqual(PEER_ROWS.map(({ name, result }) => [name, null, result]));
  });

  it.each(['fresh', 'kept'] as const)(
    'give the expected result on the smallest interpreter in a %s isolate, so that its time is that of the same work',
    {
      timeout: 300_000,
    },
    async (isolate) => {
      await using raw = await RawProcess.open();
      const found: unknown[] = [];
      for (const row of PEER_ROWS) {
        await runFloor(raw, row, isolate);
        found.push([row.name, (await runFloor(raw, row, isolate)).value]);
      }
      expect(found).toEqual(PEER_ROWS.map(({ name, result }) => [name, result]));
      expect(Object.keys(PEER_FLOORS)).toEqual(PEER_ROWS.map(({ name }) => name));
    },
  );

  it('are the rows of the table, each with a goal that is a ratio of one run', () => {
    expect(new Set(PEER_ROWS.map(({ name }) => name)).size).toBe(16);
    for (const { name, goal } of PEER_ROWS) expect([name, goal === null ? 0 : goal.most]).toEqual([name, expect.any(Number)]);
  });
});

describe('bench peers and bench quotas --peers', () => {
  it('say in one line how to install the peers, or list every engine', { timeout: 300_000 }, () => {
    const program = file('spin.ns', 'command\n  while true\n    set n = 1\n  endwhile\nendcommand\n');
    const args = [command, 'bench', 'quotas', '--peers', '--quick', '--json', '--program', program];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input: '' });
    if (!installed) {
      expect([status, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringMatching(/^bench quotas: .*npm --prefix apps\/lab\/peers ci\n$/),
      ]);
      return;
    }
    const { rows } = JSON.parse(stdout);
    expect([status, rows.length]).toEqual([0, 4 * 6 + 1]);
    expect(rows.at(-1)).toMatchObject({ program: 'spin.ns', engine: 'neuroscript', ended: 1, typed: 1, survived: 1 });
  });

  it.each([
    ['turns', '--peers'],
    ['quotas', '--program', 'a.ns'],
    ['quotas', '--peers', '--program', 'a.txt'],
    ['turns', '--compare', 'old.json'],
    ['loop', '--compare', 'old.json'],
  ])('bench %s %s is a usage error', async (...args) => {
    expect(await misused(...args)).toEqual({ code: 2, stdout: '', stderr: `${BENCH_USAGE}\n` });
  });

  it('a program of one’s own has the language of its ending', () => {
    expect(programOf(file('a.py', 'x = 1\n'))).toEqual({ name: 'a.py', limit: 'time', python: 'x = 1\n' });
    expect(programOf(file('a.txt', ''))).toBeNull();
  });

  it('only ours must end typed and live on', () => {
    const row: PeerQuotaRow = {
      ...{ program: 'p', engine: 'neuroscript', limit: 'time', set: 200, unit: 'ms', overshoot: null, stall: null },
      ...{ runs: 2, ended: 2, survived: 2, typed: 2, error: 'ERR_TIMEOUT' },
    };
    const lost = { survived: 1, typed: 0 };
    expect(peerQuotaFailures([row, { ...row, engine: 'run', ...lost }])).toEqual([]);
    expect(peerQuotaFailures([{ ...row, ...lost }])).toEqual(['p: 1 of 2 survived, 0 typed']);
  });
});

describe('bench --compare', () => {
  const OLDER = { bench: 'peers', rows: [{ row: 'a', engine: 'x', ours: 2, ms: { median: 9 } }] };
  const COMPARISON = { names: ['row', 'engine'], values: ['ours', 'ms'] };

  it('compares numbers and medians of the rows that both reports have', () => {
    const older = olderRows(file('old.json', JSON.stringify(OLDER)), 'peers');
    const rows = [
      { row: 'a', engine: 'x', ours: 1, ms: { median: 3 } },
      { row: 'b', engine: 'x', ours: 1, ms: null },
    ];
    expect(changes(rows, older, COMPARISON)).toEqual([
      { what: 'a, x: ours', before: 2, now: 1, ratio: 0.5 },
      { what: 'a, x: ms', before: 9, now: 3, ratio: 1 / 3 },
    ]);
  });

  it('refuses a file that is no report of the same benchmark', () => {
    expect(() => olderRows(file('no.json', 'x'), 'peers')).toThrow(OlderReportError);
    expect(() => olderRows(file('other.json', JSON.stringify(OLDER)), 'quotas')).toThrow(OlderReportError);
    expect(() => olderRows(join(folder, 'none.json'), 'peers')).toThrow(OlderReportError);
  });
});
