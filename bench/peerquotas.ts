import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { Runtime } from '../src/entries/index.ts';
import { OURS } from './names.ts';
import { type PeerProcess as Child, listPeers, PeerProcess, type PeerProgram } from './peerprocess.ts';
import { oursForPeers } from './peertable.ts';
import { forgetPeak, residence, workerPid } from './residence.ts';
import { type Summary, summarize } from './stats.ts';
import { short, type Table, table } from './table.ts';

/** One limit, breached by one engine many times. */
export interface PeerQuotaRow {
  readonly program: string;
  readonly engine: string;
  /** The limit that the program breaks, and its value. */
  readonly limit: 'time' | 'memory';
  readonly set: number;
  readonly unit: 'ms' | 'MB';
  /** Beyond the limit: elapsed milliseconds, or megabytes by which the process grew at most; never below 0. */
  readonly overshoot: Summary | null;
  /** The longest time for which others in the host's process had to wait, milliseconds. */
  readonly stall: Summary | null;
  readonly runs: number;
  /** Runs that the limit ended; the others succeeded. */
  readonly ended: number;
  /** Runs after which the process of the host lived and the next program was right. */
  readonly survived: number;
  /** Runs whose error names the limit by class or code, so that no text needs to be parsed. */
  readonly typed: number;
  /** What the error was. */
  readonly error: string | null;
}

/** A program that breaks a limit, in every language that has it. */
interface Breach extends Partial<PeerProgram> {
  readonly name: string;
  readonly limit: PeerQuotaRow['limit'];
  readonly neuroscript?: string;
}

const TIME_MS = 200;
const MEMORY_MB = 32;
/** Time that a breach of memory may take. */
const PATIENCE_MS = 5_000;
const MB = 1024 ** 2;
/** Milliseconds of one run on an idle machine, for the estimate. */
const RUN_MS = 400;

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`;
const NEST = '{"a": '.repeat(3);

const BREACHES: readonly Breach[] = [
  {
    name: 'endless loop',
    limit: 'time',
    neuroscript: lines('command', '  while true', '    set n = 1', '  endwhile', 'endcommand'),
    javascript: 'while (true) {}',
    python: lines('while True:', '    n = 1'),
  },
  {
    name: 'pattern that backtracks',
    limit: 'time',
    neuroscript: lines(
      'command',
      '  while true',
      '    set n = tool.regex.Match("^(a+)+$", "a" * 5000 + "b")',
      '  endwhile',
      'endcommand',
    ),
    javascript: 'while (true) /^(a+)+$/.test("a".repeat(5000) + "b")',
    python: lines('import re', 'while True:', '    re.match("^(a+)+$", "a" * 5000 + "b")'),
  },
  {
    name: 'doubled text',
    limit: 'memory',
    neuroscript: lines('command', '  set s = "x"', '  while true', '    set s = s + s', '  endwhile', 'endcommand'),
    javascript: 'let s = "x"; while (true) { s = s + s; s.charCodeAt(s.length - 1); }',
    python: lines('s = "x"', 'while True:', '    s = s + s'),
  },
  {
    name: 'endless list',
    limit: 'memory',
    neuroscript: lines(
      'command',
      '  set l = []',
      '  while true',
      `    set l[len(l)] = ${NEST}1${'}'.repeat(3)}`,
      '  endwhile',
      'endcommand',
    ),
    javascript: 'const l = []; while (true) l.push({a: {a: {a: 1}}})',
    python: lines('l = []', 'while True:', '    l.append({"a": {"a": {"a": 1}}})'),
  },
];

/** Reads a program of one's own. Its language is that of the ending: `.ns`, `.js` (the body of a function) or `.py`. Null for others. */
export function programOf(file: string): Breach | null {
  const language = LANGUAGES[extname(file)];
  return language === undefined ? null : { name: basename(file), limit: 'time', [language]: readFileSync(file, 'utf8') };
}

const LANGUAGES: Readonly<Record<string, 'neuroscript' | keyof PeerProgram>> = {
  '.ns': 'neuroscript',
  '.js': 'javascript',
  '.py': 'python',
};

/** One run of a breach. */
interface Outcome {
  readonly ms: number;
  readonly stall: number;
  readonly grownMb: number | null;
  readonly error: string | null;
  readonly typed: boolean;
  readonly survived: boolean;
}

/**
 * Breaks limits in ours and in every peer that has the language, `runs` times each: how far beyond the limit it got, whether the process
 * lives and runs the next program, how long others in it had to wait, and whether the error says which limit it was. Throws `PeersMissing`.
 */
export async function benchPeerQuotas(
  runs: number,
  own: readonly Breach[],
  onProgress: (done: number, whole: number) => void = () => {},
): Promise<PeerQuotaRow[]> {
  const peers = Object.entries(await listPeers());
  const breaches = [...BREACHES, ...own];
  const whole = breaches.length * (peers.length + 1) * runs * RUN_MS;
  let done = 0;
  const rows: PeerQuotaRow[] = [];
  await using runtime = await oursForPeers(1);
  const add = async (breach: Breach, engine: string, run: () => Promise<Outcome>): Promise<void> => {
    const outcomes: Outcome[] = [];
    for (let index = 0; index < runs; index++) {
      outcomes.push(await run());
      done += RUN_MS;
      onProgress(done, whole);
    }
    rows.push(rowOf(breach, engine, outcomes));
  };
  for (const breach of breaches) {
    const { neuroscript, javascript = '', python = '' } = breach;
    if (neuroscript !== undefined) await add(breach, OURS, () => inOurs(runtime, breach, neuroscript));
    for (const [name, { language }] of peers) {
      if (breach[language] === undefined) continue;
      await using peer = new Restarted(name);
      await add(breach, name, () => peer.breach(breach, { javascript, python }));
    }
  }
  return rows;
}

function rowOf({ name, limit }: Breach, engine: string, outcomes: readonly Outcome[]): PeerQuotaRow {
  const [set, unit] = limit === 'time' ? ([TIME_MS, 'ms'] as const) : ([MEMORY_MB, 'MB'] as const);
  const used = outcomes.flatMap(({ ms, grownMb }) => (limit === 'time' ? [ms] : grownMb === null ? [] : [grownMb]));
  return {
    ...{ program: name, engine, limit, set, unit },
    overshoot: summarize(used.map((value) => Math.max(0, value - set))),
    stall: summarize(outcomes.map(({ stall }) => stall)),
    runs: outcomes.length,
    ended: outcomes.filter(({ error }) => error !== null).length,
    survived: outcomes.filter(({ survived }) => survived).length,
    typed: outcomes.filter(({ typed }) => typed).length,
    error: outcomes.find(({ error }) => error !== null)?.error ?? null,
  };
}

async function inOurs(runtime: Runtime, { limit }: Breach, source: string): Promise<Outcome> {
  const watch = new Heartbeat();
  const grown = growthOf(workerPid());
  const start = performance.now();
  const { error } = await runtime.run(source, {
    limits: limit === 'time' ? { wallMs: TIME_MS } : { memoryBytes: MEMORY_MB * MB, wallMs: PATIENCE_MS },
  });
  const ms = performance.now() - start;
  const stall = watch.stop();
  const grownMb = grown();
  const next = await runtime.run('command\n  emit 1\nendcommand\n');
  const text = error === null ? null : `${error.code}${error.limit === undefined ? '' : ` (${error.limit})`}`;
  return { ms, stall, grownMb, error: text, typed: error?.limit !== undefined, survived: next.values[0] === 1 };
}

/** A peer whose process is started again when a breach has ended it. */
class Restarted implements AsyncDisposable {
  readonly #name: string;
  #child: Child | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  async breach({ limit }: Breach, program: PeerProgram): Promise<Outcome> {
    const child = await this.#open();
    const grown = growthOf(child.pid);
    const limits = limit === 'time' ? { ms: TIME_MS, memoryMb: 512 } : { ms: PATIENCE_MS, memoryMb: MEMORY_MB };
    const start = performance.now();
    const answer = await child.run(program, { ...limits, watch: true });
    const waited = performance.now() - start;
    if (answer === null) {
      await this[Symbol.asyncDispose]();
      return {
        ms: waited,
        stall: waited,
        grownMb: null,
        error: 'the process of the host ended or hung',
        typed: false,
        survived: false,
      };
    }
    const grownMb = grown();
    const next = await child.run({ javascript: 'return 1', python: '1' }, { ms: PATIENCE_MS, memoryMb: MEMORY_MB });
    if (next === null) await this[Symbol.asyncDispose]();
    const { ms, stall, error } = answer;
    const named = [error?.name ?? '', error?.code ?? ''].filter((each) => each !== '').join(' ');
    const text = error === null ? null : `${named}: ${error.message.split('\n')[0]}`;
    return { ms, stall, grownMb, error: text, typed: NAMES_LIMIT.test(named), survived: next?.value === 1 };
  }

  async #open(): Promise<Child> {
    this.#child ??= await PeerProcess.open(this.#name);
    return this.#child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.[Symbol.asyncDispose]();
    this.#child = null;
  }
}

/** A class or code that names a limit. */
const NAMES_LIMIT = /time_?out|timed_?out|memory/i;

/** Megabytes by which a process grows at most until the returned function is called; null where the system does not tell. */
function growthOf(pid: number): () => number | null {
  if (process.platform !== 'linux') return () => null;
  forgetPeak(pid);
  const before = residence(pid).now;
  return () => {
    try {
      return (residence(pid).peak - before) / MB;
    } catch {
      // The process is gone, and its record with it.
      return null;
    }
  };
}

const BEAT_MS = 2;

/** Measures for how long the event loop of this process stood still. */
class Heartbeat {
  #last = performance.now();
  #stall = 0;
  readonly #timer = setInterval(() => this.#beat(), BEAT_MS);

  #beat(): void {
    const now = performance.now();
    this.#stall = Math.max(this.#stall, now - this.#last - BEAT_MS);
    this.#last = now;
  }

  /** The longest stand, milliseconds. */
  stop(): number {
    this.#beat();
    clearInterval(this.#timer);
    return this.#stall;
  }
}

export function peerQuotaTable(rows: readonly PeerQuotaRow[]): Table {
  const head = ['program', 'engine', 'limit', 'ended', 'over p50', 'max', 'others waited p50', 'host lived', 'typed', 'error'];
  const cells = rows.map(({ program, engine, limit, set, unit, overshoot, stall, runs, ended, survived, typed, error }) => [
    program,
    engine,
    `${limit} ${set} ${unit}`,
    `${ended}/${runs}`,
    overshoot === null ? '-' : `${short(overshoot.median)} ${unit}`,
    overshoot === null ? '-' : `${short(overshoot.max)} ${unit}`,
    stall === null ? '-' : `${short(stall.median)} ms`,
    `${survived}/${runs}`,
    `${typed}/${runs}`,
    (error ?? '-').slice(0, 60),
  ]);
  return { head, cells };
}

export function renderPeerQuotas(rows: readonly PeerQuotaRow[]): string {
  const { head, cells } = peerQuotaTable(rows);
  return `${table(head, cells)}\n\n${PEER_QUOTAS_ABOUT.join('\n')}\n`;
}

/** How the table is to be read. */
export const PEER_QUOTAS_ABOUT: readonly string[] = [
  'ended: runs that the limit ended; over: milliseconds beyond the limit, or megabytes beyond it by which the process that runs the',
  'program grew; others waited: the longest time for which the event loop of the host stood still; host lived: the process of the host',
  'lived and ran the next program; typed: the class or code of the error names the limit.',
];

/** A breach must end ours, typed, and leave the host alive. What peers do is no failure. */
export function peerQuotaFailures(rows: readonly PeerQuotaRow[]): string[] {
  return rows
    .filter(({ engine, runs, ended, survived, typed }) => engine === OURS && (survived < runs || typed < ended))
    .map(({ program, runs, survived, typed }) => `${program}: ${survived} of ${runs} survived, ${typed} typed`);
}
