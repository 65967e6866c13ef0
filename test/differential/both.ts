/** Runs a program through the product and through the interpreter of the conformance suite. */

import type { Program } from '../../conformance/language/generate/programs.ts';
import type { Limits } from '../../conformance/language/interpreter/meter.ts';
import { type Outcome, type RunError, run } from '../../conformance/language/interpreter/run.ts';
import { parse, type SourceFile } from '../../grammar/index.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import { jsonText } from '../../src/wire/tagged.ts';
import { Parser } from '../../src/worker/parser.ts';
import { answering, runInGuest, type Tree } from './guest.ts';

export const NAME = 'p.ns';

/** What is compared. */
export type Done = Omit<Outcome, 'isExact' | 'isFollowed' | 'labels'>;

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
  toolCallsPerTool: 60,
  togetherCalls: 40,
  eventCount: 8,
  deliveries: 12,
};

/** The tree of a program, for the product in the parts that a worker keeps; null when it does not parse. */
export function treeOf({ source }: Pick<Program, 'source'>): Tree | null {
  const files: SourceFile[] = [];
  const parser = new Parser((text, options) => {
    const result = parse(text, options);
    if (result.ok) files.push(result.file);
    return result;
  });
  const parsed = parser.trees([{ name: NAME, text: source }], source.length * 4);
  const [file] = files;
  const [tree] = parsed.ok ? parsed.trees : [];
  return file === undefined || tree === undefined ? null : { file, head: tree.head, parts: tree.parts };
}

/** What the interpreter of the conformance suite does. */
export function expected({ file }: Tree, program: Program, limits: Limits): Outcome {
  const { globals, stdin, events, constants } = program;
  return run({
    files: [file],
    limits,
    globals,
    stdin,
    events,
    constants,
    tools: answering(program),
    call: program.call === null ? null : { name: program.call, args: [] },
  });
}

/** What the product does, in this process. */
export function actual(tree: Tree, program: Program, limits: Limits): Done {
  const { result, emits, values, whispers, calls } = runInGuest(tree, program, limits);
  return {
    emits,
    values: values.map(jsonText),
    whispers,
    calls: calls.map(({ name, args }) => `${name}(${args.map(jsonText).join(', ')})`),
    result: jsonText(result.result),
    eventErrors: result.eventErrors.map(({ event, error }) => ({ event, error: summary(error) })),
    error: result.error === null ? null : summary(result.error),
    fuel: result.fuel,
  };
}

export function summary({ code, line, column, limit, used }: ErrorInfo): RunError {
  return { code, line, column, limit, used };
}

/**
 * The first difference between two outcomes, in words; undefined when they agree. Where long texts are looked through, the product may
 * spend less; then fuel, and all that depends on its limit or on that of texts, is not compared. The second interpreter has no limits of memory: of a run that
 * such a limit ends, the output is compared.
 */
export function difference(wanted: Outcome, got: Done): string | undefined {
  const isExact = wanted.isExact || wanted.isFollowed;
  if (!isExact && [wanted, got].some(({ error }) => PARTLY.includes(error?.limit ?? ''))) return undefined;
  const { limit } = got.error ?? {};
  if (limit === 'valueBytes' || limit === 'memoryBytes')
    return got.emits.every((text, index) => text === wanted.emits[index])
      ? undefined
      : 'emits: those before a limit of memory differ';
  for (const key of ['emits', 'values', 'whispers', 'calls', 'eventErrors', 'error', 'result', 'fuel'] as const) {
    if (key === 'fuel' && (!isExact || endsEarly(wanted.error) || endsEarly(got.error))) continue;
    const of = (outcome: Done): unknown =>
      key === 'error' ? compared(outcome.error, wanted.error ?? {}, got.error ?? {}) : outcome[key];
    const [a, b] = [JSON.stringify(of(wanted)), JSON.stringify(of(got))];
    if (a !== b) return `${key}: expected ${a}, got ${b}`;
  }
  return undefined;
}

/** Limits of what the product counts while it makes a long text, so that a part may breach them. */
const PARTLY = ['fuel', 'textLength'];

/** Items that the product counts all memory for before it makes room for them, which costs fuel. */
const COUNTED_ITEMS = 250_000;

/** Whether the product pays another price before it refuses: for a part of a text that is too long, or for counting the memory. */
function endsEarly(error: RunError | null): boolean {
  return error?.limit === 'textLength' || (error?.limit === 'listLength' && (error.used ?? 0) > COUNTED_ITEMS);
}

type Limited = { readonly limit?: string | undefined };

/**
 * What is compared of an error. The used fuel may be that of a part, because a text is counted while it is made. A text or list that is
 * too long may also breach the memory, or the fuel that counting the memory costs; and of a text that is too long, the fuel may not be enough.
 */
function compared(error: RunError | null, { limit: wantedLimit }: Limited, { limit: gotLimit }: Limited): object | null {
  if (error === null) return null;
  const { code, line, column, limit, used } = error;
  if (wantedLimit === 'textLength' || wantedLimit === 'listLength') return { code, line, column };
  if (wantedLimit === 'fuel' && gotLimit === 'textLength') return { code, line, column };
  return limit === 'fuel' ? { code, line, column, limit } : { code, line, column, limit, used };
}
