import { matchesGlob } from 'node:path';

// The groups of test files; vitest.config.ts says how each group runs.

/** Tests that start many processes. */
export const PROCESSES: readonly string[] = ['cli', 'mcp', 'bench', 'sandbox', 'worker'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
/**
 * Tests that compute, or wait for a worker that computes: as many of them at once as there are cores keep the cores busy. More processes
 * would each warm up the source: with three times as many these tests take 10 to 30 % more CPU time.
 */
export const COMPUTING: readonly string[] = [
  ...['aeiou', 'architecture', 'conformance', 'context', 'crypto', 'differential', 'docs', 'files', 'foresee', 'fuzz', 'grammar'],
  ...['guest', 'habits', 'lsp', 'pure', 'receipt', 'records', 'report', 'runtime', 'schemas', 'site', 'telemetry', 'tools'],
  ...['traceability', 'wire'],
].map((folder) => `test/${folder}/**/*.test.ts`);
/** Tests that compare times, or count what a process does meanwhile. */
export const TIMED: readonly string[] = ['test/sandbox/{busypoll,counters,processstats,scheduling,together,warmup}.test.ts'];
/** Tests that look at what a process does first, or measure the memory of their own. */
export const ALONE: readonly string[] = [
  ...['test/runtime/nolauncher.test.ts', 'test/sandbox/{breaches,kill,pool,workerlife}.test.ts'],
  'test/attack/**/*.test.ts',
];
/** Tests that replace modules of the product, which takes Vitest's own loader. */
export const REPLACING: readonly string[] = ['test/gate/faults.test.ts', 'test/sandbox/launcher.test.ts'];
/** A group that `npm test` leaves out, because its tests need more than npm. `npm run test:NAME` runs it. */
export interface Apart {
  readonly name: string;
  readonly files: string;
  /** Milliseconds for a test, and for a hook. */
  readonly timeout: number;
  /** What starts before the tests. They share it, and run one file at a time. */
  readonly setup?: string;
}
export const APART: readonly Apart[] = [
  { name: 'machine', files: 'test/machine/**', timeout: 120_000 },
  { name: 'package', files: 'test/package/**', timeout: 600_000, setup: 'test/package/setup.ts' },
  { name: 'engines', files: 'test/engines/**', timeout: 120_000, setup: 'test/engines/setup.ts' },
  { name: 'mcp', files: 'test/interop/**', timeout: 300_000, setup: 'test/interop/setup.ts' },
];
/** The files of those groups. */
export const ELSEWHERE: readonly string[] = APART.map(({ files }) => files);
/** Builds with one check removed: `npm run test:removals`. */
export const REMOVALS: readonly string[] = ['test/attack/removals.test.ts'];
/** Tests beside others that start processes of their own. */
export const CHILDREN: readonly string[] = ['test/{gate/large,loop/crash,loop/poison}.test.ts'];
/**
 * What tests that measure time, wait, or start processes are run with: two further tries, because the machine is shared and its noise is
 * not ours. `.ci/run` names every test that needed one, and fails if there are more than a few. A test of logic has one try.
 */
export const MORE_TRIES = { retry: 2 };
/** What reads a clock or a counter of the machine, or waits for one. */
const CLOCK = /cpuMs\(|performance\.now|cpuUsage|memoryUsage|Date\.now|setTimeout|\.poll\(|waitFor|sleep\(/;

/**
 * Whether all tests of a file have more tries: it starts processes, or depends on time. In a file with random inputs another try would
 * hide what the first one found; there, a test that depends on time takes `MORE_TRIES` by itself.
 */
export function hasMoreTries(path: string, text: string): boolean {
  const startsProcesses = [...PROCESSES, ...CHILDREN].some((glob) => matchesGlob(path, glob));
  return startsProcesses || (CLOCK.test(text) && !text.includes("'fast-check'"));
}

/** Tests whose runtimes share the workers of a test process; `workers.ts` says why. */
const SHARING: readonly string[] = [
  'ai',
  'cli',
  'docs',
  'loop',
  'mcp',
  'pure',
  'receipt',
  'records',
  'stdlib-tools',
  'telemetry',
  'testing',
  'tools',
  'ui',
]
  .map((folder) => `test/${folder}/**`)
  .concat(
    'test/runtime/{custody,depth,events,library,misbehave,object,order,session,variables}.test.ts',
    'test/{conformance/agree,sandbox/reports}.test.ts',
  );

/** Tests of worker processes. */
const OF_PROCESSES: readonly string[] = ['sandbox', 'worker', 'attack', 'machine', 'bench', 'package', 'interop', 'engines'].map(
  (folder) => `test/${folder}/**`,
);

/** What the runtimes of a file have as workers. */
export function workersOf(path: string): 'processes' | 'threads' | 'shared' {
  const among = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(path, glob));
  if (among(OF_PROCESSES)) return 'processes';
  return among(SHARING) ? 'shared' : 'threads';
}

/** The files that take longest, the longest first. Without a cache of earlier runs, Vitest would go by the size of the files. */
export const LONGEST: readonly string[] = [
  ...[
    'attack/hostile',
    'bench/main',
    'attack/language',
    'mcp/source',
    'readme/pages',
    'attack/javascript',
    'mcp/modern',
    'cli/status',
  ],
  ...['cli/mcp', 'cli/run', 'loop/suspend/suspend', 'loop/ask/budget', 'grammar/syntax/limits', 'cli/json', 'cli/input'],
  ...['cli/conformance', 'attack/linear', 'cli/jsonl', 'stdlib-tools/fs', 'cli/tools', 'cli/repl', 'worker/process'],
  ...['grammar/estimate/bounds', 'guest/stack', 'cli/reader', 'records/records', 'sandbox/framevalues', 'stdlib-tools/processes'],
  ...['loop/poison', 'foresee/foresee'],
].map((name) => `test/${name}.test.ts`);
