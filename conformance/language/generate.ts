/** Writes `programs.json`: programs of a seed with what the second interpreter makes of them. `node conformance/language/generate.ts` */
import { writeFileSync } from 'node:fs';
import { parse } from '../../grammar/index.ts';
import { GLOBALS } from './generate/expressions.ts';
import { type Program, program } from './generate/programs.ts';
import type { Limits } from './interpreter/meter.ts';
import { type Outcome, run } from './interpreter/run.ts';

const SEED = 23_000_000;
const PROGRAMS = 150;
const MOST_BYTES = 700;
const FUEL = 20_000;
const OTHERS = {
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
const limitsOf = (fuel: number): Limits => ({ fuel, ...OTHERS });

/** The text of the file. */
export function programsFile(): string {
  const vectors: object[] = [];
  for (let seed = SEED; vectors.length < PROGRAMS; seed += 1) {
    const made = program(seed);
    if (Buffer.byteLength(made.source) > MOST_BYTES) continue;
    const wide = outcomeOf(made, limitsOf(FUEL));
    if (wide === null) continue;
    // Every third program also runs with exactly the fuel that it needs, or one less.
    const fuel = vectors.length % 3 === 0 ? Math.max(1, wide.fuel - (vectors.length % 2)) : FUEL;
    const outcome = fuel === FUEL ? wide : outcomeOf(made, limitsOf(fuel));
    if (outcome !== null) vectors.push(vectorOf(seed, made, fuel, outcome));
  }
  const common = { globals: GLOBALS, limits: OTHERS };
  const head = JSON.stringify({ format: 1, title: 'Programs of every statement', op: 'language.run', common, vectors: [] });
  const lines = vectors.map((vector) => JSON.stringify(vector)).join(',\n');
  return `${head.slice(0, -2)}\n${lines}\n]}\n`;
}

function outcomeOf({ source, call, globals, stdin, events }: Program, limits: Limits): Outcome | null {
  const parsed = parse(source, { name: 'program' });
  if (!parsed.ok) return null;
  const target = call === null ? null : { name: call, args: [] };
  const outcome = run({ files: [parsed.file], limits, globals, stdin, events, call: target });
  // What looking through long texts costs is not part of the language.
  return outcome.isExact && outcome.error?.limit !== 'textLength' ? outcome : null;
}

function vectorOf(seed: number, { source, call, stdin, events }: Program, fuel: number, outcome: Outcome): object {
  const { emits, whispers, result, error, eventErrors } = outcome;
  return {
    id: String(seed),
    about: error === null ? 'it ends' : `it ends with ${error.code}`,
    requirements: [],
    input: { source, call, stdin, events, own: { fuel } },
    expect: {
      ok: {
        emits,
        whispers,
        result: error === null ? JSON.parse(result) : null,
        error: errorOf(error),
        eventErrors: eventErrors.map((each) => ({ event: each.event, error: errorOf(each.error) })),
        fuel: outcome.fuel,
      },
    },
  };
}

function errorOf(error: Outcome['error']): object | null {
  return error === null ? null : { code: error.code, line: error.line, column: error.column };
}

if (process.argv[1] === import.meta.filename) writeFileSync(new URL('programs.json', import.meta.url), programsFile());
