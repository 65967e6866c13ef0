import {
  ChainWalk,
  type ClaimedSession,
  countedAttempts,
  type Held,
  type Lease,
  type Renewal,
  readKept,
  type StartedTurn,
  type StoredStep,
  type TurnCommit,
  type TurnRecord,
} from '../../loop/index.ts';
import { callDigest, entryDigest } from '../../tools/index.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { INVARIANTS } from './invariants.ts';
import type { Process } from './process.ts';
import type { Timeline } from './timeline.ts';

export interface Violation {
  /** The invariant, in words. */
  readonly invariant: string;
  /** The violation. */
  readonly message: string;
}

/** The latest claim of a session. */
interface Claim {
  readonly fence: number;
  readonly owner: string;
  /** End of the lease in milliseconds of the world; 0 when it was given up. */
  until: number;
}

export interface MadeCall {
  readonly process: Process;
  readonly sid: string;
  readonly turn: number;
  readonly tool: string;
  readonly args: string;
  readonly key: string | null;
  readonly idempotent: boolean;
}

/** Observes every event of a world when it happens, and reports a violated invariant. */
export class Watch {
  /** The first violation; null while all invariants hold. */
  violation: Violation | null = null;
  /** Number of decisions in the store. */
  decided = 0;
  /** Grows with every event that may have ended a session. */
  progress = 0;
  readonly #timeline: Timeline;
  readonly #claims = new Map<string, Claim>();
  readonly #decisions = new Map<string, { readonly record: TurnRecord; readonly mark: string }>();
  readonly #logged = new Map<string, string>();
  readonly #running = new Map<string, Process>();
  /** Calls by key, and keys by call. */
  readonly #calls = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  /** Every call of a tool, as `SESSION TURN.NUMBER/DIGEST`. */
  readonly #called = new Set<string>();
  /** Those of them whose outcome is stored. */
  readonly #ended = new Set<string>();
  /** The places of their entries in the journals. */
  readonly #entries = new Set<string>();
  /** Calls that were made and whose outcome is not known yet. */
  readonly #made = new Set<string>();
  /** Number of the attempts at a turn whose programs do not run again. */
  readonly #attempts = new Map<string, number>();
  /** Sessions whose calls are kept. */
  readonly #durable: ReadonlySet<string>;
  /** Sessions whose turns wait for answers. */
  readonly #waiting = new Set<string>();
  /** Answers to calls that waited. */
  readonly #answers = new Map<string, string>();
  readonly #chain = new ChainWalk();

  constructor(timeline: Timeline, durable: ReadonlySet<string>) {
    this.#timeline = timeline;
    this.#durable = durable;
  }

  /** Whole milliseconds, in which stores measure leases. */
  #now(): number {
    return Math.floor(this.#timeline.now);
  }

  fail(invariant: string, message: string): void {
    this.violation ??= { invariant, message };
  }

  claimed({ name }: Process, { state: { sid }, fence }: ClaimedSession, { ms }: Lease): void {
    const last = this.#claims.get(sid);
    const now = this.#now();
    if (last !== undefined && last.owner !== name && now < last.until)
      this.fail(
        INVARIANTS.owner,
        `${name} got session ${sid}, of which ${last.owner} has a lease for ${last.until - now} ms more`,
      );
    if (last !== undefined && fence <= last.fence)
      this.fail(INVARIANTS.owner, `${name} claimed session ${sid} as number ${fence}, after ${last.fence}`);
    this.#claims.set(sid, { fence, owner: name, until: now + ms });
  }

  renewed(held: readonly Held[], renewals: readonly Renewal[], ms: number): void {
    for (const [index, { sid, fence }] of held.entries()) {
      const claim = this.#claims.get(sid);
      if (renewals[index] === 'lost' || claim === undefined) continue;
      this.wrote(sid, fence, 'renewed its lease');
      claim.until = this.#now() + ms;
    }
  }

  released(sid: string, fence: number): void {
    this.progress += 1;
    const claim = this.#claims.get(sid);
    if (claim?.fence === fence) claim.until = 0;
  }

  wrote(sid: string, fence: number, what: string): void {
    const claim = this.#claims.get(sid);
    if (claim?.fence !== fence)
      this.fail(INVARIANTS.fence, `claim ${fence} of session ${sid} ${what}, after claim ${claim?.fence}`);
  }

  started({ sid, turn, suspended, attempts }: StartedTurn, fence: number): void {
    this.wrote(sid, fence, `started turn ${turn}`);
    this.#another(sid, turn, attempts);
    if (this.#decisions.has(turnKey(sid, turn)))
      this.fail(INVARIANTS.committed, `turn ${turn} of session ${sid} was started after its decision`);
    if (suspended === null) return void this.#waiting.delete(sid);
    this.#waiting.add(sid);
    for (const entry of suspended.earlier.journal) this.#end(sid, turn, entry);
    for (const { waiting, since, completion } of [suspended, ...(suspended.alsoWaiting ?? [])]) {
      if (completion === null) continue;
      for (const call of this.#callsOf(sid, turn, callDigest(waiting.tool, waiting.args))) this.#made.delete(call);
      const call = `${sid} ${turn}.${waiting.seq} ${since}`;
      const answer = JSON.stringify(completion);
      if ((this.#answers.get(call) ?? answer) !== answer)
        this.fail(INVARIANTS.answer, `call ${turn}.${waiting.seq} of session ${sid} was completed a second time, and otherwise`);
      this.#answers.set(call, answer);
    }
  }

  /** Another program of the turn makes its calls anew; those that have an answer take it and are not made. */
  #another(sid: string, turn: number, attempts: StartedTurn['attempts']): void {
    const key = turnKey(sid, turn);
    const count = countedAttempts(attempts);
    const before = this.#attempts.get(key) ?? 0;
    if (before === count) return;
    if (before > count)
      this.fail(INVARIANTS.attempts, `turn ${turn} of session ${sid} has ${count} earlier attempts, and had ${before}`);
    this.#attempts.set(key, count);
    for (const calls of [this.#called, this.#ended, this.#made, this.#entries])
      for (const call of calls) if (call.startsWith(`${sid} ${turn}.`)) calls.delete(call);
  }

  /** Notes that the outcome of a call is stored. */
  #end(sid: string, turn: number, entry: JournalEntry): void {
    const place = `${sid} ${turn}.${entry.seq}`;
    const digest = entry.from === undefined ? entryDigest(entry) : null;
    if (digest === null || this.#entries.has(place)) return;
    this.#entries.add(place);
    const [call, other] = this.#callsOf(sid, turn, digest);
    // Of equal calls that run together, an entry does not say which one it is.
    if (call !== undefined && other === undefined) this.#ended.add(call);
  }

  /** The calls with this digest whose outcome is not stored. */
  #callsOf(sid: string, turn: number, digest: string): readonly string[] {
    const calls = [...this.#called].filter((call) => call.startsWith(`${sid} ${turn}.`) && call.endsWith(`/${digest}`));
    return calls.filter((call) => !this.#ended.has(call));
  }

  kept(sid: string, { turn, body }: StoredStep, fence: number): void {
    this.wrote(sid, fence, `kept a call of turn ${turn}`);
    const { entry } = readKept(body, sid);
    if (entry !== null) this.#end(sid, turn, entry);
  }

  committed({ fence, record, next, keep }: TurnCommit): void {
    this.wrote(next.sid, fence, record === null ? 'ended the session' : `decided turn ${record.turn}`);
    if (!keep) this.released(next.sid, fence);
    this.#waiting.delete(next.sid);
    if (record === null) return;
    const key = turnKey(record.sid, record.turn);
    const attempts = countedAttempts(record.attempts ?? []);
    if (attempts !== (this.#attempts.get(key) ?? 0))
      this.fail(INVARIANTS.attempts, `turn ${record.turn} of session ${record.sid} was decided without all of its attempts`);
    if (this.#decisions.has(key))
      this.fail(INVARIANTS.once, `turn ${record.turn} of session ${record.sid} was decided a second time`);
    this.#decisions.set(key, { record, mark: markOf(record) });
    this.decided += 1;
    this.progress += 1;
  }

  markedLogged(sid: string, fence: number, keep: boolean): void {
    this.wrote(sid, fence, 'marked a decision as logged');
    if (!keep) this.released(sid, fence);
  }

  /** Whether a process has a lease of the session. */
  isHeld(sid: string): boolean {
    return (this.#claims.get(sid)?.until ?? 0) > this.#now();
  }

  /** Whether a call waits for its answer. */
  get someWait(): boolean {
    return this.#waiting.size > 0;
  }

  /** Reports that a file of the log became shorter. */
  cut(): void {
    this.fail(INVARIANTS.unchanged, 'a line was removed from the log');
  }

  /** Takes a line of the log. */
  line(text: string): void {
    const why = this.#chain.next(text);
    if (why !== null) this.fail(INVARIANTS.chain, `of line ${this.#chain.lines + 1}, ${why}`);
    if (this.#chain.again !== null) this.fail(INVARIANTS.logged, this.#chain.again);
    const { SID: sid, turn_index: turn, decision } = JSON.parse(text);
    const key = turnKey(String(sid), Number(turn));
    if (this.#logged.has(key)) this.fail(INVARIANTS.logged, `turn ${turn} of session ${sid} is in the log twice`);
    this.#logged.set(key, String(decision));
    const decided = this.#decisions.get(key)?.record.decision;
    if (decided !== undefined && decided !== decision)
      this.fail(INVARIANTS.unchanged, `turn ${turn} of session ${sid} was decided otherwise than the log says: ${decision}`);
  }

  /** Called when a program begins in a process. */
  began(process: Process, sid: string, turn: number): Disposable {
    const key = `${process.name} ${sid}`;
    // A process that was stopped may run a turn that another one has decided meanwhile. It cannot act, and the store refuses its writes.
    const isOwner = this.#claims.get(sid)?.owner === process.name;
    if (isOwner && this.#decisions.has(turnKey(sid, turn)))
      this.fail(INVARIANTS.committed, `${process.name} runs turn ${turn} of session ${sid} after its decision`);
    const other = this.#running.get(key);
    if (other?.alive === true) this.fail(INVARIANTS.inFlight, `${process.name} runs two turns of session ${sid} at once`);
    this.#running.set(key, process);
    return { [Symbol.dispose]: () => void this.#running.delete(key) };
  }

  /** Called when a process makes a call of a tool. */
  called({ process, sid, turn, tool, args, key, idempotent }: MadeCall): void {
    const claim = this.#claims.get(sid);
    // A key is `SESSION/NUMBER/DIGEST`. That of a call of a nested session begins with the session that asked, and has more numbers.
    const parts = key?.split('/') ?? [];
    const place = `call ${parts.slice(0, -1).join('/')} (${tool})`;
    if (claim !== undefined && claim.owner !== process.name)
      this.fail(INVARIANTS.inFlight, `${process.name} makes ${place}, and ${claim.owner} has claimed the session since`);
    if (key === null) {
      this.fail(INVARIANTS.effect, `a call of ${tool} in turn ${turn} of session ${sid} has no key: ${key}`);
      return;
    }
    const call = `${place} with ${args}`;
    const [otherCall = call, otherKey = key] = [this.#calls.get(key), this.#keys.get(call)];
    if (otherCall !== call) this.fail(INVARIANTS.effect, `${call} has the key of ${otherCall}`);
    if (otherKey !== key) this.fail(INVARIANTS.effect, `${call} has key ${key}, and had key ${otherKey} before`);
    this.#calls.set(key, call);
    this.#keys.set(call, key);
    if (this.#decisions.has(turnKey(sid, turn)))
      this.fail(INVARIANTS.committed, `${process.name} makes ${place} after the decision of the turn`);
    const made = `${sid} ${parts.slice(-2).join('/')}`;
    this.#called.add(made);
    if (this.#ended.has(made)) this.fail(INVARIANTS.kept, `${process.name} makes ${place} again, although its end is kept`);
    if (idempotent || !this.#durable.has(sid)) return;
    if (this.#made.has(made))
      this.fail(INVARIANTS.kept, `${process.name} makes ${place} again, and nobody has said what became of it`);
    this.#made.add(made);
  }

  /** Compares the turns of a session with the observed decisions. The caller verifies their seals. */
  compare(sid: string, turns: readonly TurnRecord[]): void {
    for (const record of turns) {
      const { turn } = record;
      if (this.#decisions.get(turnKey(sid, turn))?.mark !== markOf(record))
        this.fail(INVARIANTS.unchanged, `turn ${turn} of session ${sid} is not stored as it was decided`);
      if (!this.#logged.has(turnKey(sid, turn))) this.fail(INVARIANTS.logged, `turn ${turn} of session ${sid} is not in the log`);
    }
    const decided = this.turnsOf(sid).length;
    if (decided !== turns.length)
      this.fail(INVARIANTS.unchanged, `session ${sid} has ${turns.length} turns, and ${decided} were decided`);
  }

  /** The decided turns of a session, as observed. */
  turnsOf(sid: string): readonly TurnRecord[] {
    return [...this.#decisions.values()].flatMap(({ record }) => (record.sid === sid ? [record] : []));
  }
}

function turnKey(sid: string, turn: number): string {
  return `${sid} ${turn}`;
}

/** Identifies a record by its seal, which is a digest of the whole record. */
function markOf(record: TurnRecord): string {
  return record.seal?.hash ?? JSON.stringify(record);
}
