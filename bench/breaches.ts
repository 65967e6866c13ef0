import { defineTool, type LimitOptions, type RunOptions, type RunResult } from '../src/index.ts';
import { textBytes } from '../src/wire/costs.ts';

/** The tools that the programs call. */
export const TOOLS = [
  defineTool({
    name: 'tool.bench.Never',
    description: 'never answers',
    args: [],
    returns: 'any',
    run: () => new Promise<never>(() => {}),
  }),
  defineTool({
    name: 'tool.bench.Echo',
    description: 'gives its argument back',
    args: [{ name: 'value', type: 'any' }],
    returns: 'any',
    run: ({ value }) => value,
  }),
];

/** One way to breach a limit, and how to read what was used. */
export interface Case {
  readonly limit: string;
  readonly program: string;
  readonly source: string;
  readonly limits: LimitOptions;
  readonly set: number;
  readonly unit: 'fuel' | 'ms' | 'MB' | 'bytes' | 'count';
  readonly options?: Omit<RunOptions, 'limits'>;
  readonly code: string;
  /** A program that uses exactly what is allowed. It must succeed. */
  readonly fits?: string;
  /** Whether the count is the same on every run, so that nothing may exceed the limit. */
  readonly exact: boolean;
  observe(result: RunResult): number;
}

const MB = 1024 * 1024;
const SPIN = 'command\n  while true\n    set n = 1\n  endwhile\nendcommand\n';
const GROW = 'command\n  set s = "x"\n  while true\n    set s = s + s\n  endwhile\nendcommand\n';
const APPEND = 'command\n  set l = []\n  while true\n    set l[len(l)] = "an item"\n  endwhile\nendcommand\n';
const WAIT = 'command\n  emit tool.bench.Never()\nendcommand\n';

/** Every limit that a program can breach, some in more than one way. */
export const CASES: readonly Case[] = [
  {
    limit: 'fuel',
    program: 'endless loop',
    source: SPIN,
    limits: { fuel: 1_000_000 },
    set: 1_000_000,
    unit: 'fuel',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ usage }) => usage.fuel,
  },
  {
    limit: 'cpuMs',
    program: 'endless loop',
    source: SPIN,
    limits: { cpuMs: 50, fuel: 1e12 },
    set: 50,
    unit: 'ms',
    code: 'ERR_QUOTA',
    exact: false,
    observe: ({ usage }) => usage.cpuMs,
  },
  {
    limit: 'wallMs',
    program: 'endless loop',
    source: SPIN,
    limits: { wallMs: 200, fuel: 1e12 },
    set: 200,
    unit: 'ms',
    code: 'ERR_TIMEOUT',
    exact: false,
    observe: ({ usage }) => usage.wallMs,
  },
  {
    limit: 'wallMs',
    program: 'tool that never answers',
    source: WAIT,
    limits: { wallMs: 200 },
    set: 200,
    unit: 'ms',
    code: 'ERR_TIMEOUT',
    exact: false,
    observe: ({ usage }) => usage.wallMs,
  },
  {
    limit: 'memoryBytes',
    program: 'doubled text',
    source: GROW,
    limits: { memoryBytes: 32 * MB },
    set: 32,
    unit: 'MB',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ usage }) => usage.peakMemoryBytes / MB,
  },
  {
    limit: 'memoryBytes',
    program: 'endless list',
    source: APPEND,
    limits: { memoryBytes: 32 * MB, fuel: 1e12, cpuMs: 60_000 },
    set: 32,
    unit: 'MB',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ usage }) => usage.peakMemoryBytes / MB,
  },
  {
    limit: 'outputBytes',
    program: 'endless emits',
    source: 'command\n  while true\n    emit "twelve bytes"\n  endwhile\nendcommand\n',
    limits: { outputBytes: 1300 },
    set: 1300,
    unit: 'bytes',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ emits }) => bytes(emits),
  },
  {
    limit: 'lineBytes',
    program: 'ever longer lines',
    source: 'command\n  set s = ""\n  while true\n    set s = s + "x"\n    emit s\n  endwhile\nendcommand\n',
    limits: { lineBytes: 100 },
    set: 100,
    unit: 'bytes',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ emits }) => Math.max(...emits.map((text) => text.length)),
  },
  {
    limit: 'scratchBytes',
    program: 'endless whispers',
    source: 'command\n  while true\n    whisper "self", "twelve bytes"\n  endwhile\nendcommand\n',
    limits: { scratchBytes: 1300 },
    set: 1300,
    unit: 'bytes',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ whispers }) => bytes(whispers.map(({ text }) => text)),
  },
  {
    limit: 'toolCalls',
    program: 'endless tool calls',
    source: 'command\n  while true\n    call tool.bench.Echo(1)\n  endwhile\nendcommand\n',
    limits: { toolCalls: 20 },
    set: 20,
    unit: 'count',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ journal }) => journal.length,
  },
  {
    limit: 'toolMs',
    program: 'tool that never answers',
    source: WAIT,
    limits: { toolMs: 50 },
    set: 50,
    unit: 'ms',
    code: 'ERR_TIMEOUT',
    exact: false,
    observe: ({ usage }) => usage.wallMs,
  },
  {
    limit: 'toolBytes',
    program: 'ever longer arguments',
    source: 'command\n  set s = ""\n  while true\n    set s = s + "x"\n    call tool.bench.Echo(s)\n  endwhile\nendcommand\n',
    limits: { toolBytes: 40 },
    set: 40,
    unit: 'bytes',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ journal }) => Math.max(...journal.map((entry) => JSON.stringify('args' in entry ? entry.args : []).length)),
  },
  {
    limit: 'callDepth',
    program: 'endless recursion',
    source: 'func f(needs n) means\n  emit n\n  call f(n + 1)\nendfunc\n',
    options: { call: { name: 'f', args: [1] } },
    limits: { callDepth: 50 },
    set: 50,
    unit: 'count',
    code: 'NS37',
    exact: true,
    observe: ({ values }) => values.length,
  },
  {
    limit: 'eventCount',
    program: 'more events than allowed',
    source: 'on event "e" do\n  emit 1\nendon\n',
    options: { events: Array.from({ length: 20 }, () => ({ name: 'e' })) },
    limits: { eventCount: 10 },
    set: 10,
    unit: 'count',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ emits }) => emits.length,
  },
  {
    limit: 'deliveries',
    program: 'a handler of many events',
    source: 'on event "e" do\n  emit 1\nendon\n',
    options: { events: Array.from({ length: 20 }, () => ({ name: 'e' })) },
    limits: { deliveries: 10 },
    set: 10,
    unit: 'count',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ emits }) => emits.length,
  },
  {
    limit: 'emits',
    program: 'endless empty emits',
    source: 'command\n  while true\n    emit ""\n  endwhile\nendcommand\n',
    limits: { emits: 500 },
    set: 500,
    unit: 'count',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ emits }) => emits.length,
  },
  {
    limit: 'toolCallsPerTool',
    program: 'endless calls of one tool',
    source: 'command\n  while true\n    call tool.bench.Echo(1)\n  endwhile\nendcommand\n',
    limits: { toolCallsPerTool: 20 },
    set: 20,
    unit: 'count',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ journal }) => journal.length,
  },
  {
    limit: 'journalBytes',
    program: 'calls that are kept',
    source: 'command\n  while true\n    call tool.bench.Echo("twelve bytes")\n  endwhile\nendcommand\n',
    limits: { journalBytes: 4000 },
    set: 4000,
    unit: 'bytes',
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ journal }) => journal.reduce((sum, entry) => sum + JSON.stringify('args' in entry ? entry.args : []).length, 0),
  },
  {
    limit: 'evalDepth',
    program: 'ever more prefix operators',
    source: commands(`set m = 1${Array.from({ length: 60 }, (_, i) => `\n  set n = ${'- '.repeat(i + 1)}m\n  emit 1`).join('')}`),
    limits: { evalDepth: 30 },
    set: 30,
    unit: 'count',
    code: 'NS37',
    exact: true,
    observe: ({ emits }) => emits.length,
  },
  sized('sourceBytes', 'a source', 1000, 'bytes', (n) => `command\n  emit 1\nendcommand\n#${'x'.repeat(n - 30)}\n`),
  sized('valueBytes', 'a text repeated', textBytes(1000), 'bytes', (n) => commands(`set t = "a" * ${(n - textBytes(0)) / 2}`), 2),
  sized('valueDepth', 'lists within each other', 20, 'count', (n) => commands(`set l = ${'[ '.repeat(n)}${'] '.repeat(n)}`)),
  sized('textLength', 'a text repeated', 1000, 'count', (n) => commands(`set t = "a" * ${n}`)),
  sized('listLength', 'a list padded', 1000, 'count', (n) => commands(`set l[${n - 1}] = 1`)),
  sized('mapLength', 'a map filled', 100, 'count', (n) =>
    commands(`set m = {}\n  while len(m) < ${n}\n    set m["k" + len(m)] = 1\n  endwhile`),
  ),
];

function commands(body: string): string {
  return `command\n  ${body}\nendcommand\n`;
}

/** A limit of one size: the allowed size must run, the next one must be refused. */
function sized(
  limit: keyof LimitOptions,
  program: string,
  set: number,
  unit: Case['unit'],
  source: (size: number) => string,
  step = 1,
): Case {
  return {
    limit,
    program,
    source: source(set + step),
    fits: source(set),
    limits: { [limit]: set },
    set,
    unit,
    code: 'ERR_QUOTA',
    exact: true,
    observe: ({ ok }) => (ok ? set + step : set),
  };
}

function bytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
}
