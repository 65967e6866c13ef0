import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';

// The groups of test files; vitest.config.ts says how each group runs.
//
// A file that begins with this comment, and a test with SLOW, is left to `npm run test:all`: it judges a time, waits for what may not
// happen, starts processes that a thread or a call cannot stand for, or needs more than npm. `npm test` runs all others, each once.
const SLOW_FILE = /^\/\/ @module-tag slow$/m;

/**
 * What a slow test is run with: two further tries, because the machine is shared and its noise is not ours. `.ci/run` names every test
 * that needed one, and fails if there are more than a few.
 */
export const MORE_TRIES = { retry: 2 };
/** Options of a slow test in a file whose other tests are not. */
export const SLOW = { ...MORE_TRIES, tags: ['slow'] };

/** The files that are slow as a whole. */
export const SLOW_FILES: readonly string[] = globSync('test/**/*.test.ts').filter((path) =>
  SLOW_FILE.test(readFileSync(path, 'utf8').slice(0, 100)),
);

/**
 * Tests that compute, or wait for a worker that computes: as many of them at once as there are cores keep the cores busy. More processes
 * would each warm up the source: with three times as many these tests take 10 to 30 % more CPU time.
 */
export const COMPUTING: readonly string[] = [
  ...[
    'aeiou',
    'architecture',
    'conformance',
    'context',
    'crypto',
    'differential',
    'docs',
    'entrances',
    'files',
    'foresee',
    'fuzz',
    'grammar',
  ],
  ...['guest', 'habits', 'lsp', 'pure', 'receipt', 'records', 'report', 'runtime', 'schemas', 'site', 'telemetry', 'tools'],
  ...['traceability', 'wire'],
].map((folder) => `test/${folder}/**/*.test.ts`);
/** Slow tests that compare times, or count what a process does meanwhile. */
export const TIMED: readonly string[] = ['test/sandbox/{busypoll,counters,processstats,scheduling,together,warmup}.test.ts'];
/** Slow tests that look at what a process does first, or measure the memory of their own. */
export const ALONE: readonly string[] = [
  ...['test/runtime/nolauncher.test.ts', 'test/sandbox/{breaches,kill,pool,workerlife}.test.ts'],
  'test/attack/!(readers|onepiece|removals).test.ts',
];
/** Tests that replace modules of the product, which takes Vitest's own loader, or that look at what the product does once in a process. */
export const REPLACING: readonly string[] = [
  'test/gate/faults.test.ts',
  'test/loop/defaults.test.ts',
  'test/sandbox/launcher.test.ts',
];
/** A group whose tests need more than npm. */
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
/** Builds with one check removed. */
export const REMOVALS: readonly string[] = ['test/attack/removals.test.ts'];

/** Tests whose runtimes share the workers of a test process; `workers.ts` says why. */
const SHARING: readonly string[] = [
  'ai',
  'cli',
  'docs',
  'entrances',
  'loop',
  'mcp',
  'pure',
  'receipt',
  'records',
  'rpc',
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

/** The slow files that take longest, the longest first. Without a cache of earlier runs, Vitest would go by the size of the files. */
export const LONGEST: readonly string[] = [
  ...['sandbox/warm/warm', 'attack/standard', 'attack/hostile', 'readme/pages', 'bench/main', 'cli/fulldisk', 'attack/linear'],
  ...['mcp/source', 'sandbox/protocol', 'gate/boundary', 'attack/javascript', 'attack/language', 'cli/reload', 'cli/cluster'],
  ...['sandbox/framevalues', 'sandbox/cancel', 'cli/host', 'cli/serve', 'loop/replay/huge'],
].map((name) => `test/${name}.test.ts`);
