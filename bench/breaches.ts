import { defineTool, type LimitOptions, type RunOptions, type RunResult } from '../src/entries/index.ts';
import { textBytes } from '../src/wire/costs.ts';
import { limitOf } from '../src/wire/limits.ts';
import { command } from './workloads.ts';

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
  readonly limit: keyof LimitOptions;
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
  /** What a raw process does under a limit of as many milliseconds, beside which a breach of time is judged. */
  readonly bare: 'spin' | 'sleep' | null;
  observe(result: RunResult): number;
}

const MB = 1024 * 1024;
const SPIN = loop('set n = 1');
const WAIT = command('emit tool.bench.Never()');
const CALLS = loop('call tool.bench.Echo(1)');
const HANDLER = 'on event "e" do\n  emit 1\nendon\n';
const EVENTS = { events: Array.from({ length: 20 }, () => ({ name: 'e' })) };
const PREFIXES = Array.from({ length: 60 }, (_, i) => `set n = ${'- '.repeat(i + 1)}m\n  emit 1`);

/** Every limit that a program can breach, some in more than one way. */
export const CASES: readonly Case[] = [
  breaching('fuel', 1_000_000, 'endless loop', SPIN, ({ usage }) => usage.fuel),
  breaching('cpuMs', 50, 'endless loop', SPIN, ({ usage }) => usage.cpuMs, { limits: { fuel: 1e12 } }),
  breaching('wallMs', 200, 'endless loop', SPIN, ({ usage }) => usage.wallMs, { limits: { fuel: 1e12 } }),
  breaching('wallMs', 200, 'tool that never answers', WAIT, ({ usage }) => usage.wallMs),
  breaching('memoryBytes', 32, 'doubled text', loop('set s = s + s', 'set s = "x"'), megabytes),
  breaching('memoryBytes', 32, 'endless list', loop('set l[len(l)] = "an item"', 'set l = []'), megabytes, {
    limits: { fuel: 1e12, cpuMs: 60_000 },
  }),
  breaching('outputBytes', 1300, 'endless emits', loop('emit "twelve bytes"'), ({ emits }) => bytes(emits)),
  breaching('lineBytes', 100, 'ever longer lines', longer('emit s'), ({ emits }) =>
    Math.max(...emits.map((text) => text.length)),
  ),
  breaching('scratchBytes', 1300, 'endless whispers', loop('whisper "self", "twelve bytes"'), ({ whispers }) =>
    bytes(whispers.map(({ text }) => text)),
  ),
  breaching('toolCalls', 20, 'endless tool calls', CALLS, ({ journal }) => journal.length),
  breaching('toolMs', 50, 'tool that never answers', WAIT, ({ usage }) => usage.wallMs),
  breaching('toolBytes', 40, 'ever longer arguments', longer('call tool.bench.Echo(s)'), ({ journal }) =>
    Math.max(...journal.map(argumentBytes)),
  ),
  breaching(
    'callDepth',
    50,
    'endless recursion',
    'func f(needs n) means\n  emit n\n  call f(n + 1)\nendfunc\n',
    ({ values }) => values.length,
    { options: { call: { name: 'f', args: [1] } } },
  ),
  breaching('eventCount', 10, 'more events than allowed', HANDLER, ({ emits }) => emits.length, { options: EVENTS }),
  breaching('deliveries', 10, 'a handler of many events', HANDLER, ({ emits }) => emits.length, { options: EVENTS }),
  breaching('emits', 500, 'endless empty emits', loop('emit ""'), ({ emits }) => emits.length),
  breaching('toolCallsPerTool', 20, 'endless calls of one tool', CALLS, ({ journal }) => journal.length),
  sized('togetherCalls', 'calls at once', 20, (n) =>
    command('together', ...Array<string>(n).fill('call tool.bench.Echo(1)'), 'endtogether'),
  ),
  breaching('journalBytes', 4000, 'calls that are kept', loop('call tool.bench.Echo("twelve bytes")'), ({ journal }) =>
    journal.reduce((sum, entry) => sum + argumentBytes(entry), 0),
  ),
  breaching('evalDepth', 30, 'ever more prefix operators', command('set m = 1', ...PREFIXES), ({ emits }) => emits.length),
  sized('sourceBytes', 'a source', 1000, (n) => `command\n  emit 1\nendcommand\n#${'x'.repeat(n - 30)}\n`),
  sized('valueBytes', 'a text repeated', textBytes(1000), (n) => command(`set t = "a" * ${(n - textBytes(0)) / 2}`), 2),
  sized('valueDepth', 'lists within each other', 20, (n) => command(`set l = ${'[ '.repeat(n)}${'] '.repeat(n)}`)),
  sized('textLength', 'a text repeated', 1000, (n) => command(`set t = "a" * ${n}`)),
  sized('listLength', 'a list padded', 1000, (n) => command(`set l[${n - 1}] = 1`)),
  sized('mapLength', 'a map filled', 100, (n) =>
    command(`set m = {}\n  while len(m) < ${n}\n    set m["k" + len(m)] = 1\n  endwhile`),
  ),
];

/** An endless loop, after `first`. */
function loop(body: string, ...first: readonly string[]): string {
  return command(...first, 'while true', ...body.split('\n').map((line) => `  ${line}`), 'endwhile');
}

function longer(use: string): string {
  return loop(`set s = s + "x"\n${use}`, 'set s = ""');
}

/** A program that breaches a limit of `set`; memory is in megabytes. Only what is counted ends at the same place on every run. */
function breaching(
  limit: keyof LimitOptions,
  set: number,
  program: string,
  source: string,
  observe: Case['observe'],
  { limits, options = {} }: Pick<Partial<Case>, 'limits' | 'options'> = {},
): Case {
  const { unit: base } = limitOf(limit);
  const unit = limit === 'fuel' ? 'fuel' : limit === 'memoryBytes' ? 'MB' : base;
  if (unit === 'usd') throw new Error('no program costs anything by itself');
  return {
    ...{ limit, program, source, set, unit, options, observe },
    limits: { ...limits, [limit]: unit === 'MB' ? set * MB : set },
    code: limit === 'wallMs' || limit === 'toolMs' ? 'ERR_TIMEOUT' : /^(call|eval)Depth$/.test(limit) ? 'NS37' : 'ERR_QUOTA',
    exact: unit !== 'ms',
    bare: unit !== 'ms' ? null : source === WAIT ? 'sleep' : 'spin',
  };
}

/** A limit of one size: the allowed size must run, the next one must be refused. */
function sized(limit: keyof LimitOptions, program: string, set: number, source: (size: number) => string, step = 1): Case {
  const observe = ({ ok }: RunResult): number => (ok ? set + step : set);
  return { ...breaching(limit, set, program, source(set + step), observe), fits: source(set) };
}

function megabytes({ usage }: RunResult): number {
  return usage.peakMemoryBytes / MB;
}

function argumentBytes(entry: RunResult['journal'][number]): number {
  return JSON.stringify('args' in entry ? entry.args : []).length;
}

function bytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
}
