import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { descendants } from '../../../bench/residence.ts';
import { generateKeys, saveKeyFile } from '../../../src/aeiou/index.ts';
import { type Durable, openSession, type SessionStore, type SessionSummary } from '../../../src/loop/index.ts';
import type { Admission } from '../../../src/loop/sessions/setup.ts';
import { sendSignal } from '../../../src/sandbox/kill.ts';
import type { TaggedJson } from '../../../src/wire/protocol.ts';
import { pgPool } from '../kit.ts';
import { FAULTS, holds } from './faults.ts';
import { openPlace } from './place.ts';
import { type Asked, type HostPlan, type Kind, kindOf, type Told, WORKS } from './plan.ts';
import { Shop } from './shop.ts';

/** What a process runs: a host that claims sessions, or a worker that Restate calls. */
const CHILDREN = { host: 'hostchild.ts', worker: '../restate/workerchild.ts' } as const;
/** Nothing takes so long, even on a busy machine. */
const LIMIT_MS = 60_000;

/** How long a scrape waits; a host says within two seconds that its store does not answer. */
const SCRAPE_MS = 3000;

/** Waits for an event, which a poll sees. */
export async function until(what: string, happened: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LIMIT_MS; !(await happened()); await sleep(25))
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
}

export class HostProcess {
  readonly owner: string;
  readonly errors: string[] = [];
  readonly #child: ChildProcess;
  readonly #held = new Set<string>();
  readonly #scrapes = new Set<(text: string) => void>();
  #isReady = false;
  #isDrained = false;
  #port = 0;

  constructor(plan: HostPlan, execArgv: readonly string[], kind: keyof typeof CHILDREN) {
    this.owner = plan.owner;
    const child = fileURLToPath(new URL(CHILDREN[kind], import.meta.url));
    this.#child = fork(child, [JSON.stringify(plan)], { execArgv: ['--no-warnings', ...execArgv] });
    this.#child.on('message', (told: Told) => {
      if (told.kind === 'ready') {
        this.#isReady = true;
        this.#port = told.port ?? 0;
      } else if (told.kind === 'held') this.#held.add(told.sid);
      else if (told.kind === 'metrics') for (const answer of this.#scrapes) answer(told.text);
      else this.errors.push(told.text);
    });
  }

  /** Where a worker listens. */
  get port(): number {
    return this.#port;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  ready(): Promise<void> {
    return until(`host ${this.owner} is ready`, () => this.#isReady || this.hasEnded);
  }

  /** Waits until so many sessions are held at the moment of the plan. */
  held(count: number): Promise<void> {
    return until(`host ${this.owner} holds ${count} sessions; it said ${this.errors}`, () => this.#held.size >= count);
  }

  goOn(): void {
    this.ask({ kind: 'go on' });
  }

  ask(asked: Asked): void {
    // A host that has nothing to do may end before it is asked; its exit code tells how.
    this.#child.send(asked, (error) => {
      if (error !== null && !this.hasEnded) this.errors.push(error.message);
    });
  }

  /** What a scrape sees: its metrics, unless it has ended or does not answer. Nothing of a host that was drained. */
  async scrape(): Promise<string> {
    if (this.#isDrained) return '';
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#scrapes.add(resolve);
    if (!this.hasEnded) this.ask({ kind: 'scrape' });
    const text = await Promise.race([promise, sleep(this.hasEnded ? 0 : SCRAPE_MS, null, { ref: false })]);
    this.#scrapes.delete(resolve);
    return text === null ? 'up 0\n' : `up 1\n${text}`;
  }

  /** Kills the workers of the host, as a machine that has no more memory does. */
  killWorkers(): void {
    for (const pid of descendants(this.#child.pid ?? 0)) sendSignal(pid, 'SIGKILL');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves with the exit code; null for a process that a signal ended. */
  async ended(): Promise<number | null> {
    if (!this.hasEnded) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  /** Drains the host, which must end well. What it holds goes on after the signal. */
  async drain(): Promise<void> {
    this.signal('SIGTERM');
    this.goOn();
    const code = await this.ended();
    if (code !== 0) throw new Error(`host ${this.owner} ended with ${code}: ${this.errors}`);
    this.#isDrained = true;
  }
}

/** The kinds of stores that hosts share. */
export type Engine = 'postgres' | 'sqlite';

export interface BenchInit {
  readonly engine: Engine;
  /** Of the server, for `postgres`. */
  readonly url: string;
  readonly fileLog?: boolean;
  readonly leaseMs?: number;
}

/** How a host differs from the others of its row. */
export interface HostInit {
  readonly hold?: HostPlan['hold'];
  /** The address of the database, if it leads through a proxy. */
  readonly place?: string;
  readonly execArgv?: readonly string[];
  readonly isWatched?: boolean;
  readonly kind?: keyof typeof CHILDREN;
}

let made = 0;

/** A store, a shop, keys and the hosts of one row. */
export class Bench implements AsyncDisposable {
  readonly folder: string;
  readonly store: SessionStore;
  readonly shop: Shop;
  readonly hosts: HostProcess[] = [];
  /** Different for every bench. */
  readonly name: string;
  readonly #plan: Omit<HostPlan, 'owner' | 'hold' | 'isWatched'>;
  readonly #resources: AsyncDisposableStack;

  private constructor(
    plan: Omit<HostPlan, 'owner' | 'hold' | 'isWatched'>,
    store: SessionStore,
    resources: AsyncDisposableStack,
  ) {
    this.#plan = plan;
    this.folder = plan.folder;
    this.name = plan.schema;
    this.store = store;
    this.shop = new Shop(plan.folder);
    this.#resources = resources;
  }

  static async open({ engine, url, fileLog = false, leaseMs = 1000 }: BenchInit): Promise<Bench> {
    const resources = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'matrix-'));
    resources.defer(() => rmSync(folder, { recursive: true, force: true }));
    saveKeyFile(join(folder, 'keys.json'), generateKeys('matrix'));
    const schema = `matrix_${process.pid}_${++made}`;
    if (engine === 'postgres')
      resources.defer(async () => {
        const pool = await pgPool(url, { max: 1 });
        await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        await pool.end();
      });
    const place = engine === 'postgres' ? url : join(folder, 'sessions.db');
    return new Bench({ place, schema, folder, leaseMs, fileLog }, await openPlace({ place, schema }, resources), resources);
  }

  /** Opens sessions; the id begins with the kind. */
  async sessions(sids: readonly string[], durable: Durable = 'turn', admission: Admission = {}): Promise<void> {
    for (const sid of sids)
      await openSession(this.store, { subject: sid, fields: {} }, { sid, at: Date.now(), durable, admission });
  }

  /** Opens a session of a kind for each way in which a store keeps calls. */
  async oneOfEach(kind: Kind): Promise<void> {
    await this.sessions([`${kind}-turn`]);
    await this.sessions([`${kind}-call`], 'call');
  }

  /** Starts a host and waits until it is ready. */
  async host({
    hold = null,
    place = this.#plan.place,
    execArgv = [],
    kind = 'host',
    isWatched = false,
  }: HostInit = {}): Promise<HostProcess> {
    const owner = `host-${this.hosts.length + 1}`;
    const host = new HostProcess({ ...this.#plan, place, owner, hold, isWatched }, execArgv, kind);
    this.hosts.push(host);
    await host.ready();
    return host;
  }

  /** Waits until sessions satisfy a condition. */
  async all(what: string, is: (session: SessionSummary) => boolean): Promise<void> {
    const problems = () => this.hosts.flatMap(({ errors }) => errors).join('; ');
    await until(`${what}; hosts said: ${problems()}`, async () => (await this.store.list()).every(is));
  }

  /** Waits until the metrics of a host tell of a fault, by the table of `docs/operations.md`. */
  async tells(fault: string): Promise<void> {
    const expression = FAULTS.get(fault);
    if (expression === undefined) throw new Error(`docs/operations.md does not say how metrics tell that ${fault}`);
    await until(`metrics tell that ${fault}`, async () => (await this.#scrapes()).some((text) => holds(expression, text)));
  }

  /** The faults of which the metrics of hosts tell now. */
  async told(faults: readonly string[]): Promise<readonly string[]> {
    const scrapes = await this.#scrapes();
    return faults.filter((fault) => scrapes.some((text) => holds(FAULTS.get(fault) ?? '', text)));
  }

  #scrapes(): Promise<readonly string[]> {
    return Promise.all(this.hosts.map((host) => host.scrape()));
  }

  /** Gives the answer to the call that a session waits for, through a host. */
  async complete(host: HostProcess, sid: string, result: TaggedJson): Promise<void> {
    const [found] = (await this.store.list()).filter((each) => each.sid === sid);
    if (found?.waits == null) throw new Error(`${sid} waits for nothing`);
    host.ask({ kind: 'complete', sid, call: found.waits.call, result });
  }

  /** Waits until all sessions have ended and are logged. */
  ended(): Promise<void> {
    return this.all('every session has ended', ({ status, owed }) => status !== 'open' && owed === 0);
  }

  /** Waits until all sessions have ended and are logged, and drains all hosts that live. */
  async finish(): Promise<void> {
    await this.ended();
    for (const host of this.hosts) if (!host.hasEnded) await host.drain();
  }

  /** The texts of all entries of the decision log, in their order. */
  async logLines(): Promise<readonly string[]> {
    if (this.#plan.fileLog) return (await readFile(join(this.folder, 'log.jsonl'), 'utf8')).trimEnd().split('\n');
    const lines: string[] = [];
    for await (const { text } of this.store.log?.lines() ?? []) lines.push(text);
    return lines;
  }

  /** The orders that the sessions of the store must have made. */
  async expectedOrders(): Promise<number> {
    const own = (await this.store.list()).filter(({ parent }) => parent === null);
    return own.reduce((sum, { sid }) => sum + WORKS[kindOf(sid)].orders, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.hosts) if (!host.hasEnded) await host.kill();
    await this.#resources.disposeAsync();
  }
}
