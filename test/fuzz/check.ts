import { analyse, estimate, format, type ParseResult, parse } from '../../grammar/index.ts';
import { BOUNDING_COSTS } from '../../src/wire/costs.ts';
import { type Driven, driveFiles } from '../guest/driver.ts';
import { TEST_TOOLS } from '../guest/tools.ts';
import type { Input } from './inputs.ts';

/** Longest time that any part may take for one input, on a busy machine. */
export const MOST_MS = 5_000;

const LIMITS = { fuel: 20_000, memoryBytes: 2_000_000, outputBytes: 20_000, toolCalls: 20, callDepth: 60, evalDepth: 500 };

/** How far an input got. */
export type Reached = 'refused' | 'parsed' | 'failed' | 'stopped' | 'ran';

/**
 * Passes an input to every part that reads untrusted text: parser, linter, estimate, formatter, interpreter. Throws if a part
 * fails with anything but a typed error or takes too long, or if two runs differ.
 */
export function tryInput(input: Input): Reached {
  const result = timed('the parser', () => parse(input, { name: 'fuzz.ns' }));
  if (!result.ok) {
    checkDiagnostics(result);
    return 'refused';
  }
  const { file, text } = result;
  timed('the linter', () => analyse([{ file, text }]));
  const costs = timed('the estimate', () => estimate([file], BOUNDING_COSTS));
  expect(
    'every bound is a number',
    costs.every(({ least, most }) => least >= 0 && (most === null || most >= least)),
  );
  checkFormat(text);
  const first = timed('the interpreter', () => run(file));
  const second = run(file);
  expect('a second run gives the same', JSON.stringify(first) === JSON.stringify(second));
  return outcomeOf(first);
}

function run(file: Extract<ParseResult, { ok: true }>['file']): Driven {
  const call = file.procedures.find(({ needs }) => needs.length === 0)?.name.name ?? null;
  const events = file.events.length > 0 ? [{ name: 'x', source: 'src', payload: { a: [1] } }] : [];
  return driveFiles([file], { call, events, limits: LIMITS, tools: TEST_TOOLS, globals: { g: [1, { k: 2 }] }, stdin: ['line'] });
}

const KINDS: ReadonlySet<string> = new Set(['runtime', 'quota', 'policy']);

function outcomeOf({ error, eventErrors }: Driven): Reached {
  for (const { error: reported } of eventErrors)
    expect(`an event's error is typed: ${reported.message}`, KINDS.has(reported.kind));
  if (error === null) return 'ran';
  expect(`the error is typed: ${error.code} ${error.message}`, KINDS.has(error.kind) && /^(NS\d+|ERR_QUOTA)$/.test(error.code));
  expect('an error has a place', error.kind === 'quota' || (error.line ?? 1) >= 1);
  return error.kind === 'quota' ? 'stopped' : 'failed';
}

function checkDiagnostics({ errors }: Extract<ParseResult, { ok: false }>): void {
  expect('at least one error, at most 100', errors.length >= 1 && errors.length <= 100);
  for (const { line, column, message } of errors)
    expect(`an error has a place and words: ${message}`, line >= 1 && column >= 1 && message !== '' && message.length < 2_000);
}

function checkFormat(text: string): void {
  const once = timed('the formatter', () => format(text, { name: 'fuzz.ns' }));
  expect('what parses can be formatted', once.ok);
  if (!once.ok) return;
  const twice = format(once.text, { name: 'fuzz.ns' });
  expect('formatting again changes nothing', twice.ok && twice.text === once.text);
}

function timed<T>(part: string, work: () => T): T {
  const before = process.threadCpuUsage();
  const made = work();
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1000;
  expect(`${part} took ${Math.round(ms)} ms of CPU time`, ms < MOST_MS);
  return made;
}

function expect(what: string, holds: boolean): void {
  if (!holds) throw new Error(`not so: ${what}`);
}
