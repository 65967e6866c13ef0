/**
 * A queue with processes around it: people who approve, executors that begin and end, deaths, power failures, repairs. The code of the
 * gate is the real one; the processes and the disk are the test's.
 */
import {
  checkEligibility,
  type Execution,
  ExecutorError,
  executeOnce,
  recordApproved,
  verifyApproval,
} from '../../../src/gate/index.ts';
import { Disk } from './disk.ts';
import { type Files, type Intent, linesOf, recordOf } from './model.ts';
import { QUEUE, system, VERIFIER } from './system.ts';

const A = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
const B = '11111111-2222-4333-8444-555555555555';
const [H1, H2] = ['a'.repeat(64), 'b'.repeat(64)];

/** Intents by name: the second is the first in capitals, the third has another plan. */
export const INTENTS = {
  a: { intentId: A, hash: H1 },
  A: { intentId: A.toUpperCase(), hash: H1 },
  a2: { intentId: A, hash: H2 },
  b: { intentId: B, hash: H1 },
} as const satisfies Readonly<Record<string, Intent>>;

export type IntentName = keyof typeof INTENTS;

/** Executors; each runs one intent at a time. */
export type Slot = 0 | 1;

/** Something that happens in the world. */
export type Event =
  | { readonly do: 'approve' | 'begin'; readonly intent: IntentName; readonly slot: Slot }
  | { readonly do: 'succeed' | 'throw' | 'kill'; readonly slot: Slot }
  | { readonly do: 'power' | 'unlock' | 'repair' | 'settle' | 'forge' | 'tick' };

/** An event, and what goes wrong in it. A race names the event at one of its steps. */
export type Move = Event & {
  readonly fault?: { readonly step: number; readonly kind: 'die' | 'half' | 'nearly' | 'fail' | Event };
};

const FILES = { approved: 'approved.jsonl', executed: 'executed.jsonl', attempts: 'attempts.jsonl' } as const;
const LOCKS = { executedLock: 'executed.lock', approvedLock: 'approved.lock' } as const;
const YEARS = 3e11;
/** The clock goes back. */
export const TIMES = [1_768_478_400_000, 1_768_478_400_000 - YEARS] as const;

interface Running {
  readonly intent: Intent;
  /** The lock that it took. */
  readonly lock: string | undefined;
  readonly end: (ok: boolean) => void;
  readonly outcome: Promise<string>;
}

/** What is known of an intent's works by somebody who sees everything. */
type Work = 'running' | 'unknown' | 'succeeded';

/** The end of an event. */
export interface Outcome {
  /** `dead`, a code, or what was done. */
  readonly answer: string;
  /** The steps of the disk that it took. */
  readonly steps: readonly string[];
}

export class World {
  readonly disk = new Disk(QUEUE);
  now: number = TIMES[0];
  readonly slots: (Running | null)[] = [null, null];
  /** By intent, in lower case. Absent: no work, or one that failed. */
  readonly works = new Map<string, Work>();
  readonly told = new Map<string, string>();
  /** Whether a human removed the lock of a process that lives. */
  careless = false;
  /** What must never be, and was. */
  readonly wrongs: string[] = [];

  files(): Files {
    const text = (name: string): string | undefined => this.disk.text(name);
    return {
      approved: text(FILES.approved),
      executed: text(FILES.executed),
      attempts: text(FILES.attempts),
      executedLock: text(LOCKS.executedLock),
      approvedLock: text(LOCKS.approvedLock),
    };
  }

  /** Whether the process of a slot has the lock that it took. */
  holds(slot: Slot): boolean {
    const running = this.slots[slot];
    return running !== null && running !== undefined && running.lock === this.disk.text(LOCKS.executedLock);
  }

  async apply(move: Move): Promise<Outcome> {
    this.#attach();
    const inner: Promise<string>[] = [];
    const { step = 0, kind = 'die' } = move.fault ?? {};
    this.disk.enter({ step, kind: typeof kind === 'object' ? () => inner.push(this.#within(kind)) : kind });
    const answer = await this.#start(move);
    const { dead, steps } = this.disk.leave();
    if (dead) this.#died(move);
    await Promise.all(inner);
    return { answer: dead ? 'dead' : answer, steps };
  }

  #within(event: Event): Promise<string> {
    const { actor } = system;
    this.disk.enter(null);
    const answer = this.#start(event);
    this.disk.leave();
    system.actor = actor;
    return answer;
  }

  #attach(): void {
    system.disk = this.disk;
    system.verifierExists = true;
    system.verify = (intentId, hash) => ({ status: verifyApproval(QUEUE, intentId, hash).approved ? 0 : 1 });
  }

  #start(event: Event): Promise<string> {
    if (event.do === 'approve') return this.#approve(INTENTS[event.intent]);
    if (event.do === 'begin') return this.#begin(event.slot, INTENTS[event.intent]);
    if (event.do === 'succeed' || event.do === 'throw') return this.#end(event.slot, event.do === 'succeed');
    if (event.do === 'kill') this.#died(event);
    else this.#human(event.do);
    return Promise.resolve('done');
  }

  async #approve(intent: Intent): Promise<string> {
    system.actor = 'human';
    const answer = attempt(() => recordApproved(QUEUE, intent, this.now));
    if (answer !== 'done') return answer;
    this.told.set(recordOf(intent, this.now), FILES.approved);
    return 'approved';
  }

  #begin(slot: Slot, intent: Intent): Promise<string> {
    system.actor = `slot ${slot}`;
    let began = false;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const options = { queue: QUEUE, verifier: { command: VERIFIER, args: [] }, now: () => this.now, show: () => {} };
    const execution = executeOnce({ ...intent, source: 'human' }, options, () => {
      began = true;
      return promise;
    });
    const outcome = execution.then(answerOf, codeOf);
    if (!began) return outcome;
    this.#working(intent);
    const lock = this.disk.text(LOCKS.executedLock);
    this.slots[slot] = { intent, lock, end: (ok) => (ok ? resolve() : reject(new Error('the work failed'))), outcome };
    return Promise.resolve('runs');
  }

  /** The work of an intent runs now. Section 5: once executed is executed for ever; and only one at a time. */
  #working({ intentId }: Intent): void {
    const id = intentId.toLowerCase();
    const before = this.works.get(id);
    if (before !== undefined) this.wrongs.push(`ARGO-5-5: the work begins although an earlier one is ${before}`);
    if (!this.careless && this.slots.some((slot) => slot !== null)) this.wrongs.push('ARGO-9-2: two works run');
    this.works.set(id, 'running');
  }

  async #end(slot: Slot, ok: boolean): Promise<string> {
    const running = this.slots[slot];
    if (running === null || running === undefined) throw new Error('nothing runs');
    system.actor = `slot ${slot}`;
    this.slots[slot] = null;
    const id = running.intent.intentId.toLowerCase();
    if (ok) this.works.set(id, 'succeeded');
    else this.works.delete(id);
    running.end(ok);
    const answer = await running.outcome;
    if (answer === 'executed') this.told.set(recordOf(running.intent, this.now), FILES.executed);
    return answer;
  }

  /** The process that made a move is dead. */
  #died(event: Event): void {
    if (event.do !== 'kill' && event.do !== 'begin') return;
    const running = this.slots[event.slot];
    if (running === null || running === undefined) return;
    this.works.set(running.intent.intentId.toLowerCase(), 'unknown');
    this.slots[event.slot] = null;
  }

  #human(what: 'power' | 'unlock' | 'repair' | 'settle' | 'forge' | 'tick'): void {
    if (what === 'tick') this.now = TIMES[1];
    else if (what === 'unlock') this.#unlock();
    else if (what === 'repair') this.#repair();
    else if (what === 'settle') this.#settle();
    else if (what === 'forge') this.#append(FILES.approved, recordOf(INTENTS.a2, this.now));
    else {
      for (const slot of [0, 1] as const) this.#died({ do: 'kill', slot });
      this.disk.loseUnsynced();
    }
  }

  #append(name: string, line: string): void {
    this.disk.edit(name, (this.disk.text(name) ?? '') + line);
  }

  #unlock(): void {
    if (this.holds(0) || this.holds(1)) this.careless = true;
    for (const name of Object.values(LOCKS)) this.disk.edit(name, null);
  }

  /** Removes a last line that is cut off. */
  #repair(): void {
    for (const name of Object.values(FILES)) {
      const text = this.disk.text(name) ?? '';
      if (text !== '' && !text.endsWith('\n')) this.disk.edit(name, text.slice(0, text.lastIndexOf('\n') + 1));
    }
  }

  /** Finds out what became of every attempt that is open and does not run, and records that, as docs/gate.md says. */
  #settle(): void {
    const attempts = linesOf(this.disk.text(FILES.attempts));
    if (typeof attempts === 'number') return;
    for (const [id, last] of new Map(attempts.map((line) => [line.id.toLowerCase(), line]))) {
      const work = this.works.get(id);
      if (last.state !== 'started' || work === 'running') continue;
      const intent = { intentId: last.id, hash: last.hash };
      if (work !== 'succeeded') {
        this.#append(FILES.attempts, recordOf(intent, this.now, 'failed'));
        this.works.delete(id);
      } else if (this.disk.text(FILES.executed)?.toLowerCase().includes(id) !== true)
        this.#append(FILES.executed, recordOf(intent, this.now));
    }
  }

  /** The gate's line for an intent, with the verifier of the queue or one that behaves badly. */
  ask(intent: Intent, verifier?: string): string {
    this.#attach();
    this.disk.enter(null);
    system.verifierExists = verifier !== 'is missing';
    if (verifier === 'exits with 2') system.verify = () => ({ status: 2 });
    if (verifier === 'is killed') system.verify = () => ({ status: null });
    if (verifier === 'never ends')
      system.verify = () => ({ status: null, error: Object.assign(new Error(), { code: 'ETIMEDOUT' }) });
    if (verifier === 'cannot start')
      system.verify = () => ({ status: null, error: Object.assign(new Error(), { code: 'ENOENT' }) });
    const options = { queue: QUEUE, verifier: { command: VERIFIER, args: [] } };
    const { line } = checkEligibility({ ...intent, source: 'human' }, options);
    this.disk.leave();
    return line;
  }

  /** The answer of the verifier that comes with the gate. */
  approves(intent: Intent): boolean {
    this.#attach();
    this.disk.enter(null);
    const { approved } = verifyApproval(QUEUE, intent.intentId, intent.hash);
    this.disk.leave();
    return approved;
  }

  /** All that the future depends on. */
  state(): string {
    const slots = this.slots.map((slot) => slot && [slot.intent, slot.lock]);
    return JSON.stringify([this.disk.state(), this.now, slots, [...this.works].sort(), [...this.told].sort(), this.careless]);
  }
}

function attempt(action: () => void): string {
  try {
    action();
    return 'done';
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof ExecutorError ? error.code : String(error);
}

function answerOf(execution: Execution<void>): string {
  return execution.state === 'denied' ? execution.verdict.code : execution.state;
}
