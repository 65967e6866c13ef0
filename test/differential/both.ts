/** Runs a program through the product and through the interpreter of the conformance suite. */

import type { Program } from '../../conformance/language/generate/programs.ts';
import type { Limits } from '../../conformance/language/interpreter/meter.ts';
import { type Outcome, type RunError, run } from '../../conformance/language/interpreter/run.ts';
import { parse, type SourceFile } from '../../grammar/index.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import { jsonText } from '../../src/wire/maporder.ts';
import { driveFiles } from '../guest/driver.ts';

export const NAME = 'p.ns';

/** The limits of a run when a case sets no others: small, so that no program takes long. */
export const LIMITS: Limits = {
  fuel: 20_000,
  outputBytes: 100_000,
  lineBytes: 50_000,
  scratchBytes: 50_000,
  emits: 1000,
  toolCalls: 100,
  callDepth: 40,
  evalDepth: 400,
  textLength: 20_000,
  listLength: 5000,
  mapLength: 1000,
};

/** The tree of a program; null when it does not parse. */
export function treeOf({ source }: Pick<Program, 'source'>): SourceFile | null {
  const result = parse(source, { name: NAME });
  return result.ok ? result.file : null;
}

/** What the interpreter of the conformance suite does. */
export function expected(file: SourceFile, program: Program, limits: Limits): Outcome {
  const { globals, stdin, events } = program;
  return run({
    files: [file],
    limits,
    globals,
    stdin,
    events,
    call: program.call === null ? null : { name: program.call, args: [] },
  });
}

/** What the product does, in this process. */
export function actual(file: SourceFile, { call, globals, stdin, events }: Program, limits: Limits): Outcome {
  const done = driveFiles([file], { call, globals, stdin, events, limits });
  return {
    emits: done.emits,
    values: done.values.map(jsonText),
    whispers: done.whispers,
    result: jsonText(done.result),
    eventErrors: done.eventErrors.map(({ event, error }) => ({ event, error: summary(error) })),
    error: done.error === null ? null : summary(done.error),
    fuel: done.fuel,
    isExact: true,
  };
}

/** What the suite compares of an error. */
export function summary({ code, line, column, limit, used }: ErrorInfo): RunError {
  return { code, line, column, ...(limit === undefined ? {} : { limit }), ...(used === undefined ? {} : { used }) };
}

/**
 * The first difference between two outcomes, in words; undefined when they agree. Where long texts are looked through, the product may
 * spend less; then fuel, and all that depends on its limit, is not compared.
 */
export function difference(wanted: Outcome, got: Outcome): string | undefined {
  if (!wanted.isExact && [wanted, got].some(({ error }) => error?.limit === 'fuel')) return undefined;
  for (const key of ['emits', 'values', 'whispers', 'eventErrors', 'error', 'result', 'fuel'] as const) {
    // A text that is too long is refused before all of it is paid for.
    if (key === 'fuel' && (!wanted.isExact || wanted.error?.limit === 'textLength')) continue;
    const of = (outcome: Outcome): unknown => (key === 'error' ? compared(outcome.error, wanted.error?.limit) : outcome[key]);
    const [a, b] = [JSON.stringify(of(wanted)), JSON.stringify(of(got))];
    if (a !== b) return `${key}: expected ${a}, got ${b}`;
  }
  return undefined;
}

/**
 * What is compared of an error. The used fuel may be that of a part, because a text is counted while it is made. A text that is too long
 * may also breach the memory, or the fuel that counting the memory costs.
 */
function compared(error: RunError | null, wantedLimit: string | undefined): object | null {
  if (error === null) return null;
  const { code, line, column, limit, used } = error;
  if (wantedLimit === 'textLength') return { code, line, column };
  return limit === 'fuel' ? { code, line, column, limit } : { code, line, column, limit, used };
}
