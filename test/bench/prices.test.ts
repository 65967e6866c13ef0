// @module-tag slow
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PRICE_ROWS, type PriceRow } from '../../bench/pricerows.ts';
import { priceProgram } from '../../bench/prices.ts';
import { BUILTINS } from '../../grammar/vocabulary/builtins.ts';
import { OPERATORS } from '../../src/guest/operators.ts';
import { type Driven, drive } from '../guest/driver.ts';

const LINES = PRICE_ROWS.map(({ line }) => line);
const missing = (names: readonly string[], form: (name: string) => string): string[] =>
  names.filter((name) => !LINES.some((line) => line.includes(form(name))));

function driven(row: PriceRow): Driven {
  let asked = 0;
  const tools = { 'tool.bench.next': () => (asked++ === 0 ? 1 : 0) };
  const limits = { fuel: 1e9, emits: 1e6, outputBytes: 1e9, scratchBytes: 1e9, lineBytes: 1e8 };
  return drive([...priceProgram(row)], { tools, pure: true, limits });
}

describe('the rows of prices (issue 21, 6)', () => {
  it('are of every operator, statement and built-in function', () => {
    const binary = [...Object.keys(OPERATORS), 'and', 'or'];
    expect(missing(binary, (op) => ` ${op} `)).toEqual([]);
    expect(missing(['-', '~', 'not ', 'no ', 'some ', 'typeof '], (op) => `= ${op}`)).toEqual([]);
    const statements = ['set', 'emit', 'whisper', 'must', 'for each', 'if', 'while', 'call'];
    expect(statements.filter((word) => !LINES.some((line) => line.startsWith(`${word} `)))).toEqual([]);
    expect(missing([...Object.keys(BUILTINS), 'eval'], (name) => ` ${name}(`)).toEqual([]);
  });

  it('differ, and each of their programs runs', () => {
    const names = PRICE_ROWS.map(({ step, size }) => `${step}: ${size}`);
    expect(names).toEqual([...new Set(names)]);
    for (const row of PRICE_ROWS) expect({ row, error: driven(row).error }).toEqual({ row, error: null });
  });
});

describe('npm run bench -- prices', () => {
  it('prints the time of a unit of fuel, the dearest step first', { timeout: 300_000 }, () => {
    const command = fileURLToPath(new URL('../../scripts/bench.mjs', import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, [command, 'prices', '--quick', '--json'], {
      encoding: 'utf8',
    });
    const numbers = { fuel: z.number().positive(), nsPerFuel: z.number().positive(), ratio: z.number().min(1) };
    const row = z.object({ step: z.string(), ...numbers });
    const { rows, failures } = z.object({ rows: z.array(row), failures: z.array(z.string()) }).parse(JSON.parse(stdout));
    expect([failures, status]).toEqual([[], 0]);
    expect(rows.length).toBeGreaterThan(PRICE_ROWS.length / 10);
    const ratios = rows.map(({ ratio }) => ratio);
    expect(ratios).toEqual(ratios.toSorted((a, b) => b - a));
    // The whole bench promises less; a busy machine and one round leave room here.
    expect(ratios[0]).toBeLessThan(2000);
  });
});
